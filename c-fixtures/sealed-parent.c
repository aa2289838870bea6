/* A program that restricts its system calls, forks a child that calls nothing and ends by `_exit`, and is killed.
 *
 *   cc -g -finstrument-functions -o sealed-parent sealed-parent.c */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static void leaf(void) { sum++; }

int main(void)
{
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {1, all};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) abort();
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    leaf();
    raise(SIGKILL);
    return 0;
}
