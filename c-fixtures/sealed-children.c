/* A server whose child for each session restricts its system calls: 200 of them, one after the other.
 *
 *   cc -finstrument-functions -o sealed-children sealed-children.c */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }

__attribute__((noinline)) void session(void) {
    for (int call = 0; call < 100; call++)
        leaf();
}

int main(void) {
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {1, &all};
    for (int child = 0; child < 200; child++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
                _exit(1);
            session();
            _exit(0);
        }
        int status;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
            return 1;
    }
    return 0;
}
