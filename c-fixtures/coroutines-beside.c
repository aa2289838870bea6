/* Four coroutines whose stacks lie in memory that the kernel puts together with the stack of the thread that runs them: it was
 * mapped in the same way, just before. Each goes down one to three calls, and gives way at each level on its way up.
 *
 *   cc -g -finstrument-functions -pthread -o coroutines-beside coroutines-beside.c */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define APART __attribute__((noinline))
#define SIZE (1 << 20)
#define COUNT 4

static volatile int sum;
static ucontext_t main_context, contexts[COUNT];
static int current;

APART static void leaf(void) { sum++; }
APART static void give_way(void) { swapcontext(&contexts[current], &main_context); sum++; }

APART static void step(int n)
{
    leaf();
    if (n) step(n - 1);
    give_way();
    leaf();
}

APART static void body(int number)
{
    for (;;) {
        step(number % 3);
        leaf();
    }
}

APART static void resume(int number)
{
    current = number;
    swapcontext(&main_context, &contexts[number]);
    sum++;
}

APART static void after(void) { leaf(); }

APART static void *run(void *unused)
{
    for (int i = 0; i < 300; i++) {
        resume(i % COUNT);
        after();
    }
    return unused;
}

int main(void)
{
    for (int i = 0; i < COUNT; i++) {
        char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED || getcontext(&contexts[i])) abort();
        contexts[i].uc_stack.ss_sp = stack;
        contexts[i].uc_stack.ss_size = SIZE;
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))body, 1, i);
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL)) abort();
    pthread_join(thread, NULL);
    return 0;
}
