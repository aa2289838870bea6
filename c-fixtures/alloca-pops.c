/* As deferred-pops.c, in a function with `alloca`, as git's `ll_diff_tree_paths`: gcc takes the arguments of `emit` off the stack only
 * after the enter hook of `each`, which is inlined behind it. What `each` calls then lies higher on the stack than that hook.
 *
 *   cc -g -finstrument-functions -o alloca-pops alloca-pops.c
 *
 * 100 rounds of `emit`, `step` and `each`, which calls `step` three times. */
#include <alloca.h>

#define APART __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))

static volatile long sum;

APART static long emit(long a, long b, long c, long d, long e, long f, long g, long h)
{
    sum += a;
    return a + b + c + d + e + f + g + h;
}

APART static void step(const long *p) { sum += *p; }

INLINED void each(const long *p, int n)
{
    for (int i = 0; i < n; i++)
        if (p[i] >= 0) step(&p[i]);
}

APART static long outer(const long *t, int n, int rounds)
{
    long *p = alloca((unsigned)n * sizeof *p), at = 0;
    for (int i = 0; i < n; i++) p[i] = i;
    for (int i = 0; i < rounds; i++) {
        at = emit(at, *t, n, i, 1, 2, 3, 4) & 7;
        step(t);
        each(p, n);
    }
    return at;
}

int main(int argc, char **argv)
{
    long t = 1;
    (void)argv;
    return outer(&t, argc + 2, 100) > 7;
}
