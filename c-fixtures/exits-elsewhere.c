/* A process that ends by a thread which has called nothing that is recorded.
 *
 *   cc -g -pthread -finstrument-functions -o exits-elsewhere exits-elsewhere.c */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sum;

static void leaf(void) { sum++; }

static void *work(void *unused)
{
    for (int i = 0; i < 10; i++) leaf();
    return unused;
}

__attribute__((no_instrument_function)) int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    _exit(0);
}
