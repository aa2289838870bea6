/* Bodies inlined into each other, in places where it is hard to see: in a function that is not instrumented itself, and in
 * a branch that never returns. All have copies of their own, too.
 *
 *   cc -g -finstrument-functions -o nested-inline nested-inline.c
 *
 * Ten rounds: `unseen`, which has no hooks, has the body of `outer`, which has those of `inner` and, after it, `second`.
 * `rarely` has the body of `around`; in the last round that runs the body of `step`, and then `sink`, which ends the
 * program. */
#include <stdlib.h>

#define INLINED static inline __attribute__((always_inline))
#define APART __attribute__((noinline))

static volatile int sum;

INLINED void second(void) { sum++; }
INLINED void inner(void) { sum++; }

INLINED void outer(void)
{
    inner();
    second();
}

APART __attribute__((no_instrument_function)) static void unseen(void) { outer(); }

APART __attribute__((cold, noreturn)) static void sink(void) { exit(0); }
INLINED void step(void) { sum++; }

INLINED void around(int rare)
{
    if (rare) {
        step();
        sink();
    }
}

APART static void rarely(int rare) { around(rare); }

int main(void)
{
    for (int i = 0; i < 10; i++) {
        unseen();
        rarely(i == 9);
    }
    return 0;
}
