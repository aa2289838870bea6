/* A program that gives up system calls where seccomp.c does not: in the strict mode, which leaves read, write and exit; in a
 * forked child; for all of its threads at once.
 *
 *   cc -g -finstrument-functions -pthread -o confined confined.c
 *
 *   confined strict|child|threads
 *
 * `known` is called a thousand times before and a thousand times after; `fresh`, which calls `known`, only after, by each
 * of two threads where there are threads. It writes a line in between and one at the end. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static volatile int sum, is_running, is_restricted, is_done;

APART static void known(void) { sum++; }
APART static void fresh(void) { known(); }

UNSEEN static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0) abort();
}

UNSEEN static void seal(int is_strict, int flags)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) exit(2);
    if (is_strict ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
                  : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program))
        exit(3);
}

UNSEEN static void *run_beside(void *unused)
{
    known();
    is_running = 1;
    while (!is_restricted) {}
    fresh();
    is_done = 1;
    for (;;) {}
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    int is_strict = !strcmp(argv[1], "strict"), has_threads = !strcmp(argv[1], "threads");
    if (!strcmp(argv[1], "child") && fork()) {
        int status;
        wait(&status);
        return status != 0;
    }
    for (int i = 0; i < 1000; i++) known();
    pthread_t thread;
    if (has_threads && pthread_create(&thread, NULL, run_beside, NULL)) return 2;
    while (has_threads && !is_running) {}
    seal(is_strict, has_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0);
    say("restricted\n");
    is_restricted = 1;
    for (int i = 0; i < 1000; i++) known();
    fresh();
    while (has_threads && !is_done) {}
    say("done\n");
    if (is_strict) syscall(SYS_exit, 0);
    _exit(0);
}
