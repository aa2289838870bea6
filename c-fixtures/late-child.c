/* A child that works and sleeps before its first call: main calls `serve`, which forks; the child works and sleeps in it for a
 * while, calls `answer`, and returns from `serve`.
 *
 *   cc -g -finstrument-functions -o late-child late-child.c
 *
 * It prints how long the child worked and slept by then, and how much of that it had a processor for, in nanoseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((no_instrument_function)) static long long read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static volatile int sum;

__attribute__((noinline)) static void answer(void) { sum++; }

__attribute__((noinline)) static void serve(void)
{
    pid_t child = fork();
    if (child < 0) abort();
    if (child != 0) {
        int status;
        if (waitpid(child, &status, 0) != child || status) abort();
        return;
    }
    long long began = read_clock(CLOCK_MONOTONIC), cpu_began = read_clock(CLOCK_THREAD_CPUTIME_ID);
    for (int n = 0; n < 20000000; n++) sum++;
    struct timespec moment = {0, 30000000};
    nanosleep(&moment, NULL);
    long long cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_began, all = read_clock(CLOCK_MONOTONIC) - began;
    answer();
    printf("%lld %lld\n", all, cpu);
    fflush(stdout);
}

int main(void)
{
    serve();
    return 0;
}
