// The true time of a program: its own main, compiled as `program_main`, runs between two readings of the clock in this
// one, which is compiled without hooks.
//   BENCH_CLOCK=FILE PROGRAM   adds a line to FILE: wall time and the thread's processor time of program_main, both in ns
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int program_main(int argc, char **argv);

static int64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
    const char *path = getenv("BENCH_CLOCK");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    int64_t processor = now(CLOCK_THREAD_CPUTIME_ID);
    int64_t wall = now(CLOCK_MONOTONIC);
    int status = program_main(argc, argv);
    wall = now(CLOCK_MONOTONIC) - wall;
    processor = now(CLOCK_THREAD_CPUTIME_ID) - processor;
    if (file >= 0) dprintf(file, "%lld %lld\n", (long long)wall, (long long)processor);
    return status;
}
