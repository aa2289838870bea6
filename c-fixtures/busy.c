/* Many short calls of known least length: more of them than are timed for the recorder's own trials, or when it samples.
 *
 *   cc -g -finstrument-functions -pthread -o busy busy.c
 *
 *   busy CALLS      `work` calls `spin` CALLS times, which takes at least 100 ns, and `leaf` as often, which does nothing;
 *                   so does a second thread, and a child that is forked in the middle
 *   busy CALLS row  `row` calls `leaf` 60 times, and is called until CALLS are made; nothing else is */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))
#define APART __attribute__((noinline))

UNSEEN static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

APART static int spin(void)
{
    long end = now() + 100;
    while (now() < end) {}
    return 0;
}

APART static int leaf(void)
{
    __asm__ volatile("");
    return 0;
}

APART static int row(void)
{
    int sum = 0;
    for (int i = 0; i < 60; i++) sum += leaf();
    return sum;
}

APART static int work(long calls)
{
    int sum = 0;
    for (long i = 0; i < calls; i++) sum += spin() + leaf();
    return sum;
}

static void *in_thread(void *calls)
{
    work((long)calls);
    return NULL;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 1000;
    if (argc > 2) {
        for (long i = 0; i < calls / 60; i++) row();
        return 0;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, (void *)calls);
    work(calls / 2);
    pid_t child = fork();
    work(calls / 2);
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}
