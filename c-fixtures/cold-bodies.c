/* A body that is inlined into a part of its function that the compiler has split off (`operate.cold`).
 *
 *   cc -g -finstrument-functions -o cold-bodies cold-bodies.c
 *
 * In each of 100 rounds but the first `operate` goes that way once, at a depth where it has not gone that way before. */
#include <stdio.h>

#define APART __attribute__((noinline))

static volatile long sum;

APART static long leaf(long x) { return x + 1; }

static inline __attribute__((always_inline)) long body(long x)
{
    long a = leaf(x);
    sum += a;
    return a + leaf(x + 2);
}

__attribute__((cold, noinline)) static void unlikely(long x) { sum += x; }

APART static long operate(long x)
{
    long result = leaf(x);
    if (x < 0) {
        unlikely(x);
        result += body(x);
        unlikely(result);
    }
    return result + leaf(result);
}

APART static long outer(long depth, long round)
{
    return depth ? outer(depth - 1, round) + operate(depth == round ? -depth : depth) : leaf(0);
}

int main(void)
{
    for (long round = 0; round < 100; round++) {
        sum += outer(100, round);
        for (int k = 0; k < round % 17; k++) leaf(k);
    }
    printf("%ld\n", sum);
    return 0;
}
