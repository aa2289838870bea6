/* What happens around the ends of threads.
 *
 *   cc -g -finstrument-functions -pthread -o thread-ends thread-ends.c
 *
 *   thread-ends destructors N   N threads in turn, each with a value whose destructor, `clean_up`, calls `leaf`, and sets
 *                               the value again until it has run four times, which is as often as the system asks for
 *   thread-ends detached N      N threads nobody joins; each says that it is done as the last thing it does
 *   thread-ends waiting N       N threads that call `leaf` ten times and then wait for ever while main returns
 *   thread-ends running N       N threads that call `leaf` until the process ends, which it does when each has called it
 *                               a thousand times
 *   thread-ends asynchronous N  N threads in turn that call `leaf` until they are cancelled anywhere, also in a hook;
 *                               `undo`, pushed as a cleanup handler, calls `leaf` once
 *   thread-ends asleep N        N threads in turn that call `sleep_and_end`, which calls `leaf`, sleeps for 20 ms, and ends
 *                               its thread there */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static const char *how;
static pthread_key_t key;
static sem_t done;
static __thread volatile int sum;
static int undone;

APART static void leaf(void) { sum++; }

APART static void clean_up(void *value)
{
    leaf();
    long times = (long)value;
    if (times < 4) pthread_setspecific(key, (void *)(times + 1));
}

APART static void undo(void *unused)
{
    (void)unused;
    leaf();
    undone++;
}

APART static void work(void)
{
    for (int i = 0; i < 10; i++) leaf();
}

APART static void sleep_and_end(void)
{
    leaf();
    usleep(20000);
    pthread_exit(NULL);
}

APART static void work_on(sem_t *here)
{
    leaf();
    if (here) sem_post(here); /* now main may return */
    for (;;) leaf();
}

APART static void run_away(void)
{
    for (int i = 0; i < 1000; i++) leaf();
    work_on(&done);
}

UNSEEN static void *run(void *unused)
{
    if (!strcmp(how, "running")) run_away();
    if (!strcmp(how, "asleep")) sleep_and_end();
    if (!strcmp(how, "asynchronous")) {
        pthread_cleanup_push(undo, NULL);
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        sem_post(&done);
        work_on(NULL);
        pthread_cleanup_pop(0);
    }
    work();
    if (!strcmp(how, "destructors")) pthread_setspecific(key, (void *)1);
    if (!strcmp(how, "detached") || !strcmp(how, "waiting")) sem_post(&done);
    while (!strcmp(how, "waiting")) pause();
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    how = argv[1];
    int n = (int)strtol(argv[2], NULL, 10);
    int in_turn = !strcmp(how, "destructors") || !strcmp(how, "asynchronous") || !strcmp(how, "asleep");
    pthread_key_create(&key, clean_up);
    sem_init(&done, 0, 0);
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, NULL)) abort();
        if (!strcmp(how, "detached")) pthread_detach(thread);
        if (!strcmp(how, "asynchronous")) {
            sem_wait(&done);
            if (i % 8 == 0) usleep(200);
            pthread_cancel(thread);
        }
        if (in_turn) pthread_join(thread, NULL);
    }
    for (int i = 0; i < n && !in_turn; i++) sem_wait(&done);
    printf("%d threads, %d undone\n", n, undone);
    return 0;
}
