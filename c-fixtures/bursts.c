/* A root that is called in two bursts with a pause between, and one that runs once for long, in the program and in a child
 * that is forked in the pause and is killed in its long call.
 *
 *   cc -g -finstrument-functions -o bursts bursts.c */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function, noinline))

UNSEEN static void spend(long ms)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += ms / 1000;
    end.tv_nsec += ms % 1000 * 1000000;
    if (end.tv_nsec >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

APART static void leaf(void) { __asm__ volatile(""); }

APART static void burst(int again)
{
    for (int i = 0; i < 50; i++) leaf(); /* too few calls in all for a trial: it would leave some untimed */
    if (again) burst(0); /* no call of its own in the timeline */
}

APART static void lasts(long ms)
{
    leaf();
    spend(ms);
}

int main(void)
{
    for (int i = 0; i < 500; i++) burst(1);
    spend(300);
    int burst_is_over[2];
    if (pipe(burst_is_over)) return 1;
    pid_t child = fork();
    if (child == 0) {
        burst(0);
        if (write(burst_is_over[1], "", 1) != 1) _exit(1);
        lasts(10000);
        _exit(0);
    }
    lasts(200);
    spend(100);
    for (int i = 0; i < 250; i++) burst(1);
    char byte;
    if (read(burst_is_over[0], &byte, 1) != 1) return 1;
    kill(child, SIGKILL);
    wait(NULL);
    return 0;
}
