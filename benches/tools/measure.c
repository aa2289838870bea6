// Runs a command and tells what it took, of itself and of all children it waited for.
//   cc -O2 measure.c -o measure
//   ./measure FILE [NAME=VALUE...] -- COMMAND...
// adds to FILE one line: wall, user and system time in ns, and the largest resident set of any one process in bytes.
// The variables are set for the command only. Exits with its status, or 128 + the signal that ended it.
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static int64_t nanoseconds(struct timeval t) { return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL; }

int main(int argc, char **argv) {
    int at = 2;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) putenv(argv[at]);
    if (at + 1 >= argc) {
        fprintf(stderr, "usage: measure FILE [NAME=VALUE...] -- COMMAND...\n");
        return 2;
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child;
    int failed = posix_spawnp(&child, argv[at + 1], NULL, NULL, argv + at + 1, environ);
    if (failed) {
        fprintf(stderr, "measure: %s: %s\n", argv[at + 1], strerror(failed));
        return 127;
    }
    int status;
    struct rusage usage;
    wait4(child, &status, 0, &usage);
    clock_gettime(CLOCK_MONOTONIC, &end);

    FILE *file = fopen(argv[1], "a");
    if (!file) {
        perror(argv[1]);
        return 2;
    }
    int64_t wall = (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec;
    fprintf(file, "%lld\t%lld\t%lld\t%lld\n", (long long)wall, (long long)nanoseconds(usage.ru_utime),
            (long long)nanoseconds(usage.ru_stime), (long long)usage.ru_maxrss * 1024);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
