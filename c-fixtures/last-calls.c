/* A server whose children each make one call, which is the last thing that they do before _exit: its exit is the last event of its
 * process, and no call after it has the recorder file how long it took.
 *
 *   cc -g -finstrument-functions -o last-calls last-calls.c
 *
 *   last-calls N
 *
 * Calls: main 1; request N, one a child; step 3 N. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static void step(void) { sum++; }

__attribute__((noinline)) static void request(void)
{
    for (int i = 0; i < 3; i++) step();
}

int main(int argc, char **argv)
{
    int children = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;
    for (int i = 0; i < children; i++) {
        pid_t child = fork();
        if (child < 0) abort();
        if (child == 0) {
            request();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return 0;
}
