/* A program without hooks opens a library with hooks, whose first calls are made on a small stack.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DLIBRARY -o small.so small-first-stack.c
 *   cc -g -finstrument-functions -pthread -o small-first-stack small-first-stack.c
 *
 *   small-first-stack LIBRARY thread     in a thread with 16 KB
 *   small-first-stack LIBRARY handler    in a handler on an alternate stack of 8 KB, behind which other memory lies
 *
 * A thousand calls, and then one on the program's own stack. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LIBRARY
void work(void) {}
#else
#define WITHOUT_HOOKS __attribute__((no_instrument_function))

static void (*work)(void);

WITHOUT_HOOKS static void work_often(void)
{
    for (int i = 0; i < 1000; i++) work();
}

WITHOUT_HOOKS static void *in_thread(void *unused)
{
    work_often();
    return unused;
}

WITHOUT_HOOKS static void in_handler(int unused)
{
    (void)unused;
    work_often();
}

WITHOUT_HOOKS int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    work = library ? (void (*)(void))dlsym(library, "work") : NULL;
    if (!work) return 2;
    if (!strcmp(argv[2], "thread")) {
        pthread_t thread;
        pthread_attr_t small;
        pthread_attr_init(&small);
        if (pthread_attr_setstacksize(&small, 16 << 10)) return 3;
        if (pthread_create(&thread, &small, in_thread, NULL)) return 3;
        pthread_join(thread, NULL);
    } else {
        static char memory[64 << 10] __attribute__((aligned(4096)));
        stack_t small = {.ss_sp = memory + (32 << 10), .ss_size = 8 << 10};
        struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};
        if (sigaltstack(&small, NULL) || sigaction(SIGUSR1, &action, NULL)) return 3;
        raise(SIGUSR1);
        for (int i = 0; i < 32 << 10; i++)
            if (memory[i]) return 4; /* it was written to */
    }
    work();
    printf("done\n");
    return 0;
}
#endif
