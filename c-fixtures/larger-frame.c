/* After longjmp has left `small`, whose frame is small, its caller calls `large`, whose frame is so large that its stack
 * pointer lies below where that of `small` was: `large` is no callee of `small` all the same. Sometimes it really is.
 *
 *   cc -g -finstrument-functions -o larger-frame larger-frame.c
 *
 * A thousand rounds of `attempt`: each calls `small`, which jumps back, but in every tenth round first calls `large`
 * itself; then `attempt` calls `large`, which calls `leaf`, and `larger`, which does too. */
#include <setjmp.h>

#define APART __attribute__((noinline))

static jmp_buf back;
static volatile int sum;

static void use(volatile char *room) __attribute__((no_instrument_function, noinline));
static void use(volatile char *room) { room[0] = 1; }

APART static void leaf(void) { sum++; }

APART static void large(void)
{
    volatile char room[2000];
    use(room);
    leaf();
    use(room);
}

APART static void larger(void)
{
    volatile char room[20000];
    use(room);
    leaf();
    use(room);
}

APART static void small(int round)
{
    if (round % 10 == 0) large();
    longjmp(back, 1);
}

APART static void attempt(int round)
{
    if (!setjmp(back)) small(round);
    large();
    larger();
}

int main(void)
{
    for (int i = 0; i < 1000; i++) attempt(i);
    return 0;
}
