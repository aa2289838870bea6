/* A server of thousands of coroutines: each has three calls open while it has given way, and they go on in no order. Some end and
 * are begun anew on their stacks. In the end a forked child has all that are still there go on once more.
 *
 *   cc -g -finstrument-functions -o thousands-of-stacks thousands-of-stacks.c
 *
 * 12,000 coroutines, 12 rounds in which each goes on once. One lives for 2, 3, 4 or 5 of them, by its number: `body` calls
 * `turn` for each but the first; `turn` calls `leaf`, gives way in `give_way`, and calls `leaf` again. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

enum { COROUTINES = 12000, ROUNDS = 12, SIZE = 16 << 10 };

static void *home, *at[COROUTINES]; /* stack pointers; null: it has ended */
static char *stacks;
static int lived[COROUTINES], current;
static volatile int sum;

/* Puts what a call keeps on its stack, and goes on, on another. */
UNSEEN void go_on(void **from, void *to);
__asm__("go_on:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

APART static void leaf(void) { sum++; }

APART static void give_way(void)
{
    go_on(&at[current], home);
    sum++;
}

APART static void turn(void)
{
    leaf();
    give_way();
    leaf();
}

APART static void body(int lives)
{
    while (--lives > 0) turn();
}

UNSEEN static void begin(void)
{
    void *unused;
    body(2 + current % 4);
    at[current] = NULL;
    go_on(&unused, home);
}

APART static void resume(int who)
{
    if (at[who] == NULL) {
        void **stack = (void **)(stacks + (who + 1) * (size_t)SIZE);
        *--stack = NULL;
        *--stack = (void *)begin;
        at[who] = stack - 6;
    }
    current = who;
    go_on(&home, at[who]);
}

int main(void)
{
    size_t size = COROUTINES * (size_t)SIZE;
    stacks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) return 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COROUTINES; i++) resume((i * 1237 + round * 611) % COROUTINES);
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        for (int who = 0; who < COROUTINES; who++)
            if (at[who] != NULL) resume(who);
        _exit(0);
    }
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}
