/* Functions so small that an optimising compiler inlines them by itself, and some it does not.
 *
 *   cc -g -finstrument-functions -o small small.c
 *
 * main calls `grow` five times; `grow` calls `one` and `two`, each of which calls `bump`; main calls `apart` twice. */
#include <stdio.h>

static volatile int sum;

static inline void bump(int n) { sum += n; }
static inline void one(void) { bump(1); }
static inline void two(void) { bump(2); }

static void grow(void)
{
    one();
    two();
}

__attribute__((noinline)) static void apart(void) { sum++; }

int main(void)
{
    for (int i = 0; i < 5; i++) grow();
    apart();
    apart();
    printf("%d\n", sum);
    return 0;
}
