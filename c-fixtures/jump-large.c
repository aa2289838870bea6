/* As jump-windows.c, but what takes the place of the call that was left has a larger frame, with room for variables that have no value yet: what lies
 * there is of earlier calls.
 *
 *   cc -g -pg -finstrument-functions -o jump-large jump-large.c
 *
 * `attempt` calls `deep`, which leaves itself and all its calls, and then `rare` and `split`: 900 times. `deep` calls neither. */
#include <setjmp.h>
#include <stdio.h>

#define APART __attribute__((noinline))

static volatile long sum;
static jmp_buf back;

/* Called often in the end, so that no window that is under way then has anything else in it. */
APART static void rest(void) { sum++; }

APART static long leaf(long x) { return x + 1; }

/* Their frames are larger than all of those that were left. */
APART static long split(long x)
{
    volatile char room[3000];
    room[x] = (char)x;
    return leaf(x) + leaf(room[x]);
}

APART static void rare(long x)
{
    volatile char room[3000];
    room[x] = (char)x;
    sum ^= leaf(room[x]);
}

APART static void deep(int levels)
{
    char some[levels * 10 + 1];
    some[0] = (char)levels;
    if (levels) deep(levels - 1);
    else longjmp(back, 1 + (int)leaf(some[0]));
}

APART static long attempt(int levels)
{
    volatile long result = 0;
    for (volatile int i = 0; i < 3; i++) {
        if (!setjmp(back)) deep(levels);
        else {
            rare(levels);
            result += split(levels);
        }
    }
    return result;
}

int main(void)
{
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < 20; k++) sum += leaf(k);
        sum += attempt(i % 12);
    }
    for (int k = 0; k < 2000; k++) rest();
    printf("%ld\n", sum);
    return 0;
}
