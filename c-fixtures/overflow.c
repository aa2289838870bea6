/* A recursion without an end, which the stack's guard page ends, in the program's code or in a hook: the fault's handler, on
 * a stack of its own, calls `in_handler` and jumps out. A hundred times; `after` is called each time.
 *
 *   cc -g -finstrument-functions -o overflow overflow.c
 *
 * It prints how often `down` was entered. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static sigjmp_buf back;
static volatile long downs, sum;

APART static void in_handler(void) { sum++; }
APART static void after(void) { sum++; }

UNSEEN static void on_fault(int signal)
{
    (void)signal;
    in_handler();
    siglongjmp(back, 1);
}

APART static void down(volatile int *above)
{
    volatile int here[16] = {*above};
    downs++;
    down(here);
    sum += here[1]; /* no tail call */
}

int main(void)
{
    static char room[1 << 16];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    volatile int zero = 0;
    setrlimit(RLIMIT_STACK, &(struct rlimit){256 << 10, 256 << 10});
    if (sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &action, NULL)) return 2;
    for (volatile int i = 0; i < 100; i++) {
        if (!sigsetjmp(back, 1)) down(&zero);
        after();
    }
    printf("%ld\n", downs);
    return 0;
}
