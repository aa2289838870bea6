/* A library that a program opens has a constructor that waits for a thread, which asks libc for something for the first time: the loader's
 * lock is held meanwhile.
 *
 *   cc -g -finstrument-functions -pthread -shared -fPIC -DLIBRARY -o waiting.so waiting-constructor.c
 *   cc -g -finstrument-functions -pthread -o waiting-constructor waiting-constructor.c
 *
 *   waiting-constructor LIBRARY WHAT    WHAT is syscall, prctl, name or fork */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIBRARY
static void *work(void *unused)
{
    const char *what = getenv("WHAT");
    if (!strcmp(what, "syscall")) syscall(SYS_gettid);
    if (!strcmp(what, "prctl")) prctl(PR_SET_NAME, "worker");
    if (!strcmp(what, "name")) pthread_setname_np(pthread_self(), "worker");
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    }
    return unused;
}

__attribute__((constructor)) static void wait_for_it(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL)) abort();
    pthread_join(thread, NULL);
}
#else
int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    setenv("WHAT", argv[2], 1);
    alarm(60); /* it would wait for ever */
    /* What an earlier error has left is the program's to ask for. */
    dlopen("there-is-none.so", RTLD_NOW);
    if (!strcmp(argv[2], "syscall")) syscall(SYS_gettid);
    printf("%s\n", dlerror() ? "an error" : "no error");
    printf("%s\n", dlopen(argv[1], RTLD_NOW) ? "opened" : dlerror());
    return 0;
}
#endif
