// What the first call of a forked child costs, and its second.
//   ./child N   forks N children in turn; prints for each: first and second call in ns
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

static volatile int sink;

__attribute__((noinline)) static void leaf(void) { sink++; }
__attribute__((noinline)) static void request(void) { leaf(); }

UNSEEN static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

UNSEEN static void child(int to) {
    int64_t times[3];
    sink = 1; // the page is the child's own from here on; that copy is the fork's cost, not the call's
    times[0] = now(), times[0] = now();
    leaf();
    times[1] = now();
    leaf();
    times[2] = now();
    if (write(to, times, sizeof times) != sizeof times) _exit(1);
    _exit(0);
}

// Instrumented, so children are forked from within an open call, as a server forks them.
static int serve(int children) {
    for (int i = 0; i < 1000; i++) request();
    for (int i = 0; i < children; i++) {
        int ends[2], status;
        int64_t times[3];
        if (pipe(ends) != 0) return 1;
        pid_t pid = fork();
        if (pid < 0) return 1;
        if (pid == 0) child(ends[1]);
        if (read(ends[0], times, sizeof times) != sizeof times) return 1;
        waitpid(pid, &status, 0);
        close(ends[0]), close(ends[1]);
        if (status != 0) return 1;
        printf("%lld\t%lld\n", (long long)(times[1] - times[0]), (long long)(times[2] - times[1]));
    }
    return 0;
}

UNSEEN int main(int argc, char **argv) { return serve(argc > 1 ? atoi(argv[1]) : 200); }
