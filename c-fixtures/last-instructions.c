/* Calls that are their function's last instruction, as what is called does not return: where they would return to, the next function
 * begins, and that is one that is open further out.
 *
 *   cc -g -finstrument-functions -o last-instructions last-instructions.c
 *
 * `outer_0` calls `leaf` three times and `middle_0`, that calls `inner_0`, that calls `outer_1`, and so on to `inner_7`, which calls `leaf` a
 * thousand times and ends the program. In the file each `outer` lies behind the `middle` that it calls. */
#include <stdlib.h>

#define APART __attribute__((noinline))
#define LAST __attribute__((noinline, noreturn))

volatile int sum;

APART void leaf(int n) { sum += n; }

LAST void end(void)
{
    for (int i = 0; i < 1000; i++) leaf(i);
    exit(0);
}

#define LEVEL(i, next)                                                  \
    LAST void middle_##i(void);                                         \
    LAST void outer_##i(void);                                          \
    LAST void next(void);                                               \
    LAST void inner_##i(void) { next(); }                               \
    LAST void middle_##i(void) { inner_##i(); }                         \
    LAST void outer_##i(void)                                           \
    {                                                                   \
        for (int n = 0; n < 3; n++) leaf(n);                            \
        middle_##i();                                                   \
    }

LEVEL(0, outer_1)
LEVEL(1, outer_2)
LEVEL(2, outer_3)
LEVEL(3, outer_4)
LEVEL(4, outer_5)
LEVEL(5, outer_6)
LEVEL(6, outer_7)
LEVEL(7, end)

int main(void)
{
    for (int i = 0; i < 60; i++) leaf(i);
    outer_0();
}
