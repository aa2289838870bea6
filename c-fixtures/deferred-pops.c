/* Calls with so many arguments that some go on the stack, where compilers take them off later: the hooks of a body that is inlined
 * behind such a call have two stack pointers, and its frame is the same.
 *
 *   cc -g -finstrument-functions -o deferred-pops deferred-pops.c
 *
 *   deferred-pops N     calls `work` N times, which calls `eight` and `fourteen` and has `body` and `outer` inlined behind them */
#include <stdlib.h>

#define APART __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))

static volatile long sum;
static volatile int never;

APART static void eight(long a, long b, long c, long d, long e, long f, long g, long h)
{
    sum += a + b + c + d + e + f + g + h;
}

APART static void fourteen(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n)
{
    sum += a + b + c + d + e + f + g + h + i + j + k + l + m + n;
}

APART static void leaf(void) { sum++; }

INLINED void body(void)
{
    if (never) leaf();
}

INLINED void inner(void)
{
    if (never) leaf();
    sum++;
}

INLINED void outer(void)
{
    if (never) leaf();
    inner();
    leaf();
    inner();
}

APART static void work(long n)
{
    eight(n, 2, 3, 4, 5, 6, 7, n);
    body();
    sum += n;
    eight(1, 2, 3, 4, 5, 6, n, 8);
    outer();
    fourteen(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, n, n);
    body();
    fourteen(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, n, n);
    outer();
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
    for (long i = 0; i < n; i++) work(i);
    return 0;
}
