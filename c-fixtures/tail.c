/* Functions that return nothing have their exit hook as a tail call: an optimising compiler jumps to it, and it sees the
 * caller's frame. Here they are chained, recursive, side by side, and with frames of different sizes.
 *
 *   cc -g -finstrument-functions -o tail tail.c
 *
 * Ten rounds of: chain_1 → chain_2 → chain_3 → leaf; wide → leaf; countdown, four calls inside each other. */
#include <string.h>

#define APART __attribute__((noinline))

static volatile int sum;

APART static void leaf(void) { sum++; }
APART static void chain_3(void) { leaf(); }
APART static void chain_2(void) { chain_3(); }
APART static void chain_1(void) { chain_2(); }

APART static void wide(void)
{
    char room[4000];
    memset(room, sum, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
    leaf();
}

APART static void countdown(int n)
{
    if (n) countdown(n - 1);
}

APART static void round_of_all(void)
{
    chain_1();
    wide();
    countdown(3);
}

int main(void)
{
    for (int i = 0; i < 10; i++) round_of_all();
    return 0;
}
