/* 200 workers that live as long as the program, call a little and wait a while, as those of a server do, until there is a
 * file called `stop` in the current folder.
 *
 *   cc -g -finstrument-functions -o crowd crowd.c */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile int sum;

APART static void look_up(void) { sum++; }

APART static void request(void)
{
    for (int i = 0; i < 3; i++) look_up();
}

int main(void)
{
    for (int worker = 0; worker < 200; worker++) {
        pid_t child = fork();
        if (child < 0) abort();
        while (child == 0) {
            for (int i = 0; i < 10; i++) request();
            usleep(50000);
            if (!access("stop", F_OK)) _exit(0);
        }
    }
    while (wait(NULL) > 0);
    return 0;
}
