/* A program that has its system calls delivered to a handler of its own while it runs certain code, as Wine does.
 *
 *   cc -g -finstrument-functions -o dispatched dispatched.c
 *
 * `work` calls `leaf` a thousand times, on paths that are new by then, and no system call. Ends with 1 if one was delivered, with 2
 * where the kernel cannot do this. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <ucontext.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

enum { SET_SYSCALL_USER_DISPATCH = 59, ON = 1 };

static volatile char delivers;
static volatile int delivered, sum;

UNSEEN static void deliver(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    delivers = 0;
    delivered++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -38; /* ENOSYS */
}

APART static void leaf(int n) { sum += n; }

APART static void work(void)
{
    for (int n = 0; n < 1000; n++) leaf(n);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = deliver, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSYS, &action, NULL);
    if (prctl(SET_SYSCALL_USER_DISPATCH, ON, 0L, 0L, &delivers)) return 2;
    delivers = 1;
    work();
    delivers = 0;
    return delivered > 0;
}
