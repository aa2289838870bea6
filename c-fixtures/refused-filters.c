/* A program that asks what filters of system calls the kernel knows, as libseccomp and others do: by setting some that must be
 * refused. It restricts nothing.
 *
 *   cc -g -finstrument-functions -o refused-filters refused-filters.c
 *
 * `leaf` is called a thousand times by `work` in the process, and as often in a child. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile int sum;

APART static void leaf(void) { sum++; }
APART static void work(void)
{
    for (int i = 0; i < 1000; i++) leaf();
}

static int refused(long result, int error) __attribute__((no_instrument_function));
static int refused(long result, int error) { return result == -1 && errno == error; }

/* 0 if all were refused. */
static int ask(void) __attribute__((no_instrument_function));
static int ask(void)
{
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog good = {1, all}, empty = {0, all};
    if (!refused(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL), EINVAL)) return 1;
    if (!refused(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, &good), EINVAL)) return 2;
    if (!refused(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL), EFAULT)) return 3;
    if (!refused(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &empty), EINVAL)) return 4;
    if (!refused(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL), EFAULT)) return 5;
    if (!refused(prctl(PR_SET_SECCOMP, 77, NULL), EINVAL)) return 6;
    if (!refused(prctl(PR_SET_SECCOMP, SECCOMP_MODE_DISABLED, NULL), EINVAL)) return 7;
    /* Without privileges, and without PR_SET_NO_NEW_PRIVS. */
    if (!geteuid() && setresuid(65534, 65534, 65534)) return 8;
    if (!refused(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &good), EACCES)) return 9;
    return 0;
}

int main(void)
{
    int status = ask();
    if (status) return status;
    work();
    pid_t child = fork();
    if (!child) {
        work();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status != 0;
}
