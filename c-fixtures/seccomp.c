/* A program that restricts its system calls to `write` and `exit_group`, and is killed for any other: it lives on under
 * the recorder.
 *
 *   cc -g -finstrument-functions -o seccomp seccomp.c
 *
 *   seccomp prctl|seccomp DEPTH
 *
 * Before: main calls `before`, which calls `leaf`. After: `after` calls `leaf` a thousand times, and `down` goes DEPTH
 * calls deep. Paths are new in either. It ends by `_exit`. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile int sum;

APART static void leaf(void) { sum++; }
APART static void before(void) { leaf(); }
APART static void after(void)
{
    for (int i = 0; i < 1000; i++) leaf();
}
APART static void down(int depth)
{
    if (depth > 1) down(depth - 1);
    sum++;
}

static int seal(int by_prctl) __attribute__((no_instrument_function));
static int seal(int by_prctl)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                    : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    int depth = (int)strtol(argv[2], NULL, 10);
    before();
    if (seal(!strcmp(argv[1], "prctl"))) return 1;
    after();
    down(depth);
    if (write(1, "done\n", 5) != 5) return 3;
    _exit(0);
}
