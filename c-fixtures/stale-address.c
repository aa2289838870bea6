/* After longjmp has left `small`, `large` is called, and its frame is so large that `small` could be its caller by the
 * stack pointer. Nor does it help to look for the return address of `large` below the frame of `small`: it is there, in a
 * variable of `large` that has no value yet, since `attempt` was called from deeper in the stack before.
 *
 *   cc -g -finstrument-functions -o stale-address stale-address.c
 *
 * Ten rounds: `deep` and `deeper` each call `attempt`, then main does; `attempt` calls `small`, which jumps back, and then
 * `large`. */
#include <setjmp.h>

#define APART __attribute__((noinline))

static jmp_buf back;
static volatile int sum;

static void use(volatile char *room) __attribute__((no_instrument_function, noinline));
static void use(volatile char *room) { room[0] = 1; }

APART static void small(void) { longjmp(back, 1); }

APART static void large(void)
{
    volatile char room[10000];
    use(room);
}

APART static void attempt(void)
{
    if (!setjmp(back)) small();
    large();
    sum++;
}

APART static void deep(void)
{
    volatile char room[1000];
    use(room);
    attempt();
    use(room);
}

APART static void deeper(void)
{
    volatile char room[5000];
    use(room);
    attempt();
    use(room);
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        deep();
        deeper();
        attempt();
    }
    return 0;
}
