/* longjmp over three frames, a thousand times, where the recorder cannot look up which stacks there are: no descriptor is
 * free, as after `chroot` there is no /proc. `attempt` calls `level_1` → `level_2` → `level_3`, which jumps back; then
 * `attempt` calls `after`.
 *
 *   cc -g -finstrument-functions -o unlisted unlisted.c -pthread
 *
 *   unlisted            in the first thread
 *   unlisted thread     in another, which begins when none is free any more
 *   unlisted coroutine  on a stack that is neither's: in a coroutine of the first thread */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>

#define APART __attribute__((noinline)) /* of two bodies inlined into one frame, nobody can tell which was left */

static jmp_buf back;
static volatile int sum;
static ucontext_t outside, inside;
static char stack[256 << 10] __attribute__((aligned(4096)));

APART static void after(void) { sum++; }
APART static void level_3(void) { longjmp(back, 1); }
APART static void level_2(void) { level_3(); }
APART static void level_1(void) { level_2(); }

APART static void attempt(void)
{
    if (!setjmp(back)) level_1();
    after();
}

static void *attempts(void *nothing)
{
    for (int i = 0; i < 1000; i++) attempt();
    return nothing;
}

static void coroutine(void) { attempts(NULL); }

int main(int argc, char **argv)
{
    struct rlimit none = {0, 0};
    pthread_t thread;
    setrlimit(RLIMIT_NOFILE, &none);
    if (argc > 1 && !strcmp(argv[1], "thread")) {
        pthread_create(&thread, NULL, attempts, NULL);
        pthread_join(thread, NULL);
    } else if (argc > 1) {
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack, inside.uc_stack.ss_size = sizeof stack, inside.uc_link = &outside;
        makecontext(&inside, coroutine, 0);
        swapcontext(&outside, &inside);
    } else {
        attempts(NULL);
    }
    printf("%d\n", sum);
    return 0;
}
