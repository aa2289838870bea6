/* A signal handler with calls of its own interrupts calls, and hooks, anywhere.
 *
 *   cc -g -finstrument-functions -o signals signals.c
 *
 *   signals own         the handler runs on the stack of what it interrupts
 *   signals alternate   it has a stack of its own
 *   signals jump        it sometimes jumps out, over everything that it interrupted
 *
 * `on_tick` calls `in_handler` twice. Until 300 ticks came, `busy` calls `work`, which calls `leaf` three times.
 * It prints how often `on_tick` and `work` were called. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static const char *how;
static volatile int ticks, works, sum;
static sigjmp_buf back;

static void in_handler(void) { sum++; }

static void on_tick(int signal)
{
    (void)signal;
    ticks++;
    in_handler();
    in_handler();
    if (!strcmp(how, "jump") && ticks % 3 == 0) siglongjmp(back, 1);
}

static void leaf(void) { sum++; }

static void work(void)
{
    works++;
    leaf();
    leaf();
    leaf();
}

static void busy(void)
{
    while (ticks < 300) {
        sigsetjmp(back, 1);
        work();
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    how = argv[1];
    static char room[1 << 16];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = on_tick};
    if (!strcmp(how, "alternate")) {
        if (sigaltstack(&stack, NULL)) return 2;
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGALRM, &action, NULL);
    sigsetjmp(back, 1);
    struct itimerval timer = {{0, 200}, {0, 200}}, none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    busy();
    setitimer(ITIMER_REAL, &none, NULL);
    printf("%d %d\n", ticks, works);
    return 0;
}
