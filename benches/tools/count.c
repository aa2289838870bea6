// Counts calls, to divide times by: independent of any profiler that is measured.
//   cc -O2 -shared -fPIC count.c -o libcount.so
//   BENCH_COUNT=FILE LD_PRELOAD=./libcount.so PROGRAM   each process adds a line with its calls to FILE as it exits
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long calls; // added to in one instruction, atomically: forked children go on from their parent's, see below
static long inherited;
static pid_t owner;

void __cyg_profile_func_enter(void *function, void *site) {
    (void)function, (void)site;
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

void __cyg_profile_func_exit(void *function, void *site) { (void)function, (void)site; }

// A child's count begins with its parent's, which the parent reports itself.
static void in_child(void) {
    owner = getpid();
    inherited = calls;
}

// PostgreSQL writes over its environment, so the name is read at load.
static char path[4096];

__attribute__((constructor)) static void start(void) {
    const char *name = getenv("BENCH_COUNT");
    if (name) snprintf(path, sizeof path, "%s", name);
    owner = getpid();
    extern int pthread_atfork(void (*)(void), void (*)(void), void (*)(void));
    pthread_atfork(0, 0, in_child);
}

__attribute__((destructor)) static void finish(void) {
    if (!path[0] || getpid() != owner || calls == inherited) return;
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0) return;
    dprintf(file, "%ld\n", calls - inherited);
    close(file);
}
