/* Functions that wait, and functions that do not, in threads and in a forked child. Each measures itself by the kernel's clocks:
 * of every function a line with its name, its calls, its processor time and the time that passed, in nanoseconds.
 *
 *   cc -g -finstrument-functions -pthread -o off-cpu off-cpu.c
 *
 *   off-cpu all            sleeps, locks, reads a slow pipe and works: in main, in threads, in a child
 *   off-cpu bursts N       N times 1000 short calls, and then a nap of 1 ms
 *   off-cpu vfork          a vfork child works while its parent waits
 *   off-cpu stuck          works, says so, and then waits for ever
 *   off-cpu exit           a thread waits for ever, main works, sleeps and exits
 *   off-cpu sealed         works, sets a filter of system calls that lets everything pass, and works on
 *   off-cpu refused ARG..  becomes `off-cpu ARG..` where perf_event_open is refused */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function, noinline))
#define MS 1000000L

struct measured {
    const char *name;
    long calls, cpu, wall;
};

static struct measured all[16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t is_held;
static int slow_pipe[2];
static volatile long sum;

UNSEEN static long now(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) abort();
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

UNSEEN static struct measured begin(const char *name)
{
    struct measured begun = {name, 0, now(CLOCK_THREAD_CPUTIME_ID), now(CLOCK_MONOTONIC_RAW)};
    return begun;
}

UNSEEN static void end(struct measured begun)
{
    long cpu = now(CLOCK_THREAD_CPUTIME_ID) - begun.cpu, wall = now(CLOCK_MONOTONIC_RAW) - begun.wall;
    pthread_mutex_lock(&lock);
    struct measured *place = all;
    while (place->name && strcmp(place->name, begun.name) != 0) place++;
    place->name = begun.name;
    place->calls++;
    place->cpu += cpu;
    place->wall += wall;
    pthread_mutex_unlock(&lock);
}

UNSEEN static void tell(void)
{
    char text[2048];
    int size = 0;
    for (struct measured *one = all; one->name; one++)
        size += snprintf(text + size, sizeof text - size, "%s\t%ld\t%ld\t%ld\n", one->name, one->calls, one->cpu, one->wall);
    if (write(1, text, size) != size) abort();
    memset(all, 0, sizeof all);
}

UNSEEN static void sleep_for(long ns)
{
    struct timespec time = {ns / 1000000000L, ns % 1000000000L};
    while (nanosleep(&time, &time) != 0) {}
}

UNSEEN static void spin_for(long ns)
{
    long until = now(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (now(CLOCK_THREAD_CPUTIME_ID) < until)
        for (int i = 0; i < 1000; i++) sum++;
}

APART static void leaf(void) { sum++; }

APART static void nap(void)
{
    struct measured measured = begin("nap");
    sleep_for(MS);
    end(measured);
}

APART static void sleeps(void)
{
    struct measured measured = begin("sleeps");
    sleep_for(5 * MS);
    end(measured);
}

APART static void works(void)
{
    struct measured measured = begin("works");
    spin_for(10 * MS);
    end(measured);
}

APART static void does_both(void)
{
    struct measured measured = begin("does_both");
    spin_for(5 * MS);
    sleep_for(5 * MS);
    end(measured);
}

APART static void locks(void)
{
    struct measured measured = begin("locks");
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    end(measured);
}

APART static void *locker(void *unused)
{
    struct measured measured = begin("locker");
    pthread_barrier_wait(&is_held);
    locks();
    works();
    end(measured);
    return unused;
}

APART static void reads(void)
{
    struct measured measured = begin("reads");
    char byte;
    while (read(slow_pipe[0], &byte, 1) == 1) {}
    end(measured);
}

APART static void *reader(void *unused)
{
    struct measured measured = begin("reader");
    reads();
    works();
    end(measured);
    return unused;
}

APART static void writes(void)
{
    struct measured measured = begin("writes");
    for (int i = 0; i < 5; i++) {
        sleep_for(6 * MS);
        if (write(slow_pipe[1], "x", 1) != 1) abort();
    }
    close(slow_pipe[1]);
    end(measured);
}

APART static void everything(void)
{
    struct measured measured = begin("everything");
    pthread_t threads[2];
    if (pipe(slow_pipe) != 0 || pthread_barrier_init(&is_held, NULL, 2) != 0) abort();
    pthread_mutex_lock(&held);
    if (pthread_create(&threads[0], NULL, locker, NULL) != 0) abort();
    if (pthread_create(&threads[1], NULL, reader, NULL) != 0) abort();
    pthread_barrier_wait(&is_held);
    for (int i = 0; i < 4; i++) sleeps();
    pthread_mutex_unlock(&held);
    writes();
    for (int i = 0; i < 3; i++) works();
    for (int i = 0; i < 3; i++) does_both();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    end(measured);
}

APART static void in_child(void)
{
    struct measured measured = begin("in_child");
    sleeps();
    works();
    end(measured);
}

APART static void bursts(int count)
{
    struct measured measured = begin("bursts");
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < 1000; j++) leaf();
        nap();
    }
    end(measured);
}

APART static void vforks(void)
{
    struct measured measured = begin("vforks");
    pid_t child = vfork();
    if (child == 0) {
        spin_for(20 * MS);
        leaf();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    end(measured);
}

APART static void stuck(void)
{
    if (write(1, "!", 1) != 1) abort();
    for (;;) pause();
}

APART static void *stuck_thread(void *unused)
{
    stuck();
    return unused;
}

UNSEEN static void set_filter(struct sock_filter *filter, unsigned short size)
{
    struct sock_fprog program = {size, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) abort();
}

UNSEEN static void refuse(char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    set_filter(filter, 4);
    argv[1] = argv[0];
    execv("/proc/self/exe", argv + 1);
    abort();
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    if (strcmp(argv[1], "refused") == 0) refuse(argv);
    if (strcmp(argv[1], "all") == 0) {
        everything();
        tell();
        pid_t child = fork();
        if (child == 0) {
            in_child();
            tell();
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    if (strcmp(argv[1], "bursts") == 0) bursts(atoi(argv[2]));
    if (strcmp(argv[1], "vfork") == 0) vforks();
    if (strcmp(argv[1], "stuck") == 0) {
        works();
        stuck();
    }
    if (strcmp(argv[1], "exit") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, stuck_thread, NULL) != 0) abort();
        works();
        sleeps();
    }
    if (strcmp(argv[1], "sealed") == 0) {
        struct sock_filter filter[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        works();
        set_filter(filter, 1);
        sleeps();
    }
    tell();
    return 0;
}
