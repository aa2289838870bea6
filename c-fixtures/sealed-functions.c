/* A program that restricts its system calls to `exit_group`, and meets most of its functions afterwards.
 *
 *   cc -g -finstrument-functions -o sealed-functions sealed-functions.c
 *
 *   sealed-functions COUNT
 *
 * main calls `f_0000` to `f_1999` once each before, and of those up to `f_9999` the next COUNT after. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "many-functions.h"

static volatile int sum;

ALL(DEFINE)
#define NAME(n) f_##n,
static void (*const functions[])(void) = {ALL(NAME)};

static int seal(void) __attribute__((no_instrument_function));
static int seal(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    enum { BEFORE = 2000 };
    if (argc < 2) return 2;
    int end = BEFORE + (int)strtol(argv[1], NULL, 10);
    for (int i = 0; i < BEFORE; i++) functions[i]();
    if (seal()) return 1;
    for (int i = BEFORE; i < end; i++) functions[i]();
    _exit(0);
}
