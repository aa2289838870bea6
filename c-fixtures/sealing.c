/* A program that restricts its system calls in `seal`, and says how many nanoseconds that took by its own clock, which under
 * the recorder are mostly the recorder's. A hundred calls of `step` before.
 *
 *   cc -g -finstrument-functions -o sealing sealing.c */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

static volatile int sum;

__attribute__((noinline)) static void step(void) { sum++; }

__attribute__((noinline)) static int seal(void)
{
    struct sock_filter filter[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(void)
{
    struct timespec before, after;
    for (int i = 0; i < 100; i++) step();
    clock_gettime(CLOCK_MONOTONIC, &before);
    int failed = seal();
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("%lld\n", (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec);
    return failed;
}
