/* More than a hundred thousand call paths: twelve levels of functions that each call the next from three
 * places, without recursion. Level n is called 3^n times, on as many paths.
 *
 *   cc -g -finstrument-functions -o wide wide.c
 *
 * That makes 265720 calls. */
#include <stdio.h>

#define APART __attribute__((noinline))

static volatile int leaves;

APART static void level_11(void) { leaves++; }
#define LEVEL(n, below)                                                                                                \
    APART static void level_##n(void)                                                                                  \
    {                                                                                                                  \
        level_##below();                                                                                               \
        level_##below();                                                                                               \
        level_##below();                                                                                               \
        leaves++;                                                                                                      \
    }
LEVEL(10, 11) LEVEL(9, 10) LEVEL(8, 9) LEVEL(7, 8) LEVEL(6, 7) LEVEL(5, 6)
LEVEL(4, 5) LEVEL(3, 4) LEVEL(2, 3) LEVEL(1, 2) LEVEL(0, 1)

int main(void)
{
    level_0();
    printf("%d\n", leaves);
    return 0;
}
