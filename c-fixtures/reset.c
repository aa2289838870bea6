/* Counts in a thread and in forked children, has a command run that resets the counters, and counts again, within calls
 * that have been open since before: `reset COMMAND`.
 *
 *   cc -g -finstrument-functions -pthread -o reset reset.c */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function, noinline))

static pthread_barrier_t before, after;
static int to_child[2], from_child[2];

APART static void f(void) { __asm__ volatile(""); }
APART static void g(void) { __asm__ volatile(""); }

APART static void first(void)
{
    for (int i = 0; i < 1000; i++) f();
}

APART static void second(void)
{
    for (int i = 0; i < 300; i++) {
        f();
        if (i % 3 == 0) g();
    }
}

UNSEEN static void thread_waits(void)
{
    pthread_barrier_wait(&before);
    pthread_barrier_wait(&after);
}

UNSEEN static void child_waits(void)
{
    char c = 0;
    if (write(from_child[1], &c, 1) != 1 || read(to_child[0], &c, 1) != 1) abort();
}

APART static void serve(void (*waits)(void))
{
    first();
    waits();
    second();
}

APART static void *in_thread(void *unused)
{
    serve(thread_waits);
    return unused;
}

static char *command;

UNSEEN static void resets(void)
{
    char c = 0;
    pthread_barrier_wait(&before);
    if (read(from_child[0], &c, 1) != 1) abort();
    if (system(command) < 0) abort();
    pthread_barrier_wait(&after);
    if (write(to_child[1], &c, 1) != 1) abort();
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    command = argv[1];
    pthread_t thread;
    pthread_barrier_init(&before, NULL, 2);
    pthread_barrier_init(&after, NULL, 2);
    if (pipe(to_child) || pipe(from_child)) abort();
    if (fork() == 0) { /* ended before the reset: nothing of it is left */
        first();
        _exit(0);
    }
    wait(NULL);
    if (fork() == 0) {
        serve(child_waits);
        _exit(0);
    }
    if (pthread_create(&thread, NULL, in_thread, NULL)) abort();
    serve(resets);
    pthread_join(thread, NULL);
    wait(NULL);
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            second();
            _exit(0);
        }
        wait(NULL);
    }
    return 0;
}
