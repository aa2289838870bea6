/* Threads that are named after their first call: by themselves in two ways, and by another.
 *
 *   cc -D_GNU_SOURCE -g -pthread -finstrument-functions -o renamed renamed.c
 *
 * It is killed in the end: names are not only noted when a thread ends. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_barrier_t started, named;
static volatile int sum;

static void by_prctl(void) { sum++; }
static void by_itself(void) { sum++; }
static void by_main(void) { sum++; }

static void *first(void *unused)
{
    by_prctl();
    prctl(PR_SET_NAME, "by-prctl", 0, 0, 0);
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&named);
    pause();
    return unused;
}

static void *second(void *unused)
{
    by_itself();
    pthread_setname_np(pthread_self(), "by-itself");
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&named);
    pause();
    return unused;
}

static void *third(void *unused)
{
    by_main();
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&named);
    pause();
    return unused;
}

int main(void)
{
    void *(*const works[])(void *) = {first, second, third};
    pthread_t threads[3];
    pthread_barrier_init(&started, NULL, 4);
    pthread_barrier_init(&named, NULL, 4);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, works[i], NULL);
    pthread_barrier_wait(&started);
    pthread_setname_np(threads[2], "by-main");
    pthread_barrier_wait(&named);
    raise(SIGKILL);
}
