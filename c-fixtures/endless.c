/* Threads and forked children that call and call, and end, and begin again, until there is a file called `stop` in the
 * current folder. In between it leaves the processor to who looks at it.
 *
 *   cc -g -finstrument-functions -pthread -o endless endless.c */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static __thread volatile int sum;

APART static void leaf(void) { sum++; }

APART static void branch(int n)
{
    for (int i = 0; n && i < 3; i++) branch(n - 1);
    leaf();
}

APART static void *work(void *unused)
{
    branch(5);
    return unused;
}

APART static void generation(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, work, NULL)) abort();
    pid_t child = fork();
    work(NULL);
    if (child == 0) _exit(0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    for (; access("stop", F_OK); usleep(1000)) generation();
    return 0;
}
