/* Threads that wait once before the recorder measures for the first time what calls cost there, each for 50 ms.
 *
 *   cc -g -finstrument-functions -pthread -o early-waits early-waits.c
 *
 * Twelve threads, one after the other: `session` calls `work`, `waits` and `work`, and `work` calls `step`. */
#include <pthread.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) void step(void) { sum++; }

__attribute__((noinline)) void work(int steps) {
    for (int i = 0; i < steps; i++) step();
}

__attribute__((noinline)) void waits(void) { usleep(50000); }

__attribute__((noinline)) void session(void) {
    work(20);
    waits();
    work(3000);
}

__attribute__((no_instrument_function)) static void *thread(void *nothing) {
    session();
    return nothing;
}

int main(void) {
    for (int i = 0; i < 12; i++) {
        pthread_t one;
        pthread_create(&one, NULL, thread, NULL);
        pthread_join(one, NULL);
    }
    return 0;
}
