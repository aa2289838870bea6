/* A program with a clock of its own, which stands still, is instrumented, and exported: every library that asks for the time is
 * given this.
 *
 *   cc -g -finstrument-functions -rdynamic -o own-clock own-clock.c
 *
 * main asks it twice, and calls `leaf` a hundred times. It prints how often the clock was asked. */
#include <stdio.h>
#include <time.h>

static int asked;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    asked++;
    *time = (struct timespec){42, 0};
    return 0;
}

__attribute__((noinline)) static void leaf(void)
{
    for (volatile int i = 0; i < 1000; i++) {}
}

int main(void)
{
    struct timespec time;
    for (int i = 0; i < 2; i++) clock_gettime(CLOCK_REALTIME, &time);
    for (int i = 0; i < 100; i++) leaf();
    printf("%d\n", asked);
    return 0;
}
