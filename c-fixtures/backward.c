/* A clock that steps back: a library's clock_gettime takes a millisecond off every 11th reading.
 *
 *   cc -shared -fPIC -DCLOCK -o libclock.so backward.c
 *   cc -g -finstrument-functions -o backward backward.c -L. -lclock -Wl,-rpath,'$ORIGIN'
 *
 * `main` calls `step` a thousand times. */
#ifdef CLOCK
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int steps;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long result = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_MONOTONIC && ++steps % 11 == 0) {
        int borrows = time->tv_nsec < 1000000;
        time->tv_sec -= borrows;
        time->tv_nsec += borrows * 1000000000L - 1000000;
    }
    return (int)result;
}
#else
extern int steps;

__attribute__((noinline)) static int step(void)
{
    return steps & 1;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++) sum += step();
    return sum & 0;
}
#endif
