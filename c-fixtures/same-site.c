/* After longjmp has left `small`, `large` is called from the very same place in `attempt`: the return address lies where
 * that of `small` lay, and is the same. What tells is that the hook is in a function of its own, so that `large` cannot
 * be a body inlined into `small`. The event log does not look for that, and is mistaken here.
 *
 *   cc -g -finstrument-functions -o same-site same-site.c
 *
 * A hundred rounds of `small` and `large`, whose frame grows with each, then a hundred of `small` and `alike`, whose frame
 * is as large as that of `small`. Both call `leaf`. */
#include <setjmp.h>

#define APART __attribute__((noinline))

static jmp_buf back;
static volatile int sum;

static void use(volatile char *room) __attribute__((no_instrument_function, noinline));
static void use(volatile char *room) { room[0] = 1; }

APART static void leaf(void) { sum++; }

APART static void small(int round)
{
    sum += round;
    longjmp(back, 1);
}

APART static void large(int round)
{
    volatile char room[16 * (round + 1)];
    use(room);
    leaf();
    use(room);
}

APART static void alike(int round)
{
    sum += round;
    leaf();
}

APART static void attempt(int round, void (*second)(int))
{
    void (*volatile next)(int) = small;
    if (setjmp(back)) next = second;
    next(round);
}

int main(void)
{
    for (int i = 0; i < 100; i++) attempt(i, large);
    for (int i = 0; i < 100; i++) attempt(i, alike);
    return 0;
}
