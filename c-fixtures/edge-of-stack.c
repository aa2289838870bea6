/* Stacks that overflow, each a little earlier or later than the one before: some in the middle of what the recorder does for
 * a new path. Each thread's recursion makes new paths to its end.
 *
 *   cc -D_GNU_SOURCE -g -pthread -finstrument-functions -o edge-of-stack edge-of-stack.c
 *
 *   edge-of-stack N     N children; each overflows a stack of 32 KB and ends with status 3 in its handler of SIGSEGV, which
 *                       has a stack of its own. Prints how many ended otherwise. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile char *keep;
static int offset;

static void handler(int signal)
{
    (void)signal;
    _exit(3);
}

/* Sixteen functions that call each other in an order that is never the same: every call is a new path. */
static void next(unsigned state);
#define STEP(n) \
    static __attribute__((noinline)) void step_##n(unsigned state) { next(state * 1103515245u + 12345u + n); keep = (char *)&state; }
STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)

__attribute__((no_instrument_function, noinline)) static void next(unsigned state)
{
    static void (*const steps[])(unsigned) = {step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7,
        step_8, step_9, step_10, step_11, step_12, step_13, step_14, step_15};
    steps[state >> 16 & 15](state);
}

static void *overflow(void *unused)
{
    stack_t stack = {malloc(65536), 0, 65536};
    sigaltstack(&stack, NULL);
    keep = memset(alloca(offset + 16), 0, offset + 16);
    next(offset);
    return unused;
}

int main(int argc, char **argv)
{
    int otherwise = 0, children = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0, status; i < children; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            pthread_attr_t attributes;
            offset = i * 16;
            pthread_attr_init(&attributes);
            pthread_attr_setstacksize(&attributes, 32768);
            if (pthread_create(&thread, &attributes, overflow, NULL)) _exit(4);
            pthread_join(thread, NULL);
            _exit(5);
        }
        waitpid(child, &status, 0);
        otherwise += !WIFEXITED(status) || WEXITSTATUS(status) != 3;
    }
    printf("%d ended otherwise\n", otherwise);
    return 0;
}
