/* Children that work for two milliseconds and end in that call: by `_exit`, `exit`, as another program, or as a thread that ends.
 *
 *   cc -g -finstrument-functions -pthread -o ends-at-work ends-at-work.c */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function))

QUIET static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

APART static void work(const char *how)
{
    for (double end = seconds() + 2e-3; seconds() < end;) continue;
    if (strcmp(how, "_exit") == 0) _exit(0);
    if (strcmp(how, "exit") == 0) exit(0);
    if (strcmp(how, "exec") == 0) execl("/bin/true", "true", NULL);
    pthread_exit(NULL);
}

APART static void *in_a_thread(void *how)
{
    work(how);
    return NULL;
}

int main(int count, char **how)
{
    if (count != 2) return 1;
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            if (strcmp(how[1], "thread")) work(how[1]);
            if (pthread_create(&thread, NULL, in_a_thread, how[1])) abort();
            pthread_join(thread, NULL);
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) < 0 || status) return 2;
    }
    return 0;
}
