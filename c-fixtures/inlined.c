/* Inlined bodies still call the hooks. `sum_up` has two loops in which `add` is called ten times each; `add` calls
 * `check`; both are inlined everywhere, and `add` once into main.
 *
 *   cc -g -finstrument-functions -o inlined inlined.c */
#include <stdio.h>

#define INLINED static inline __attribute__((always_inline))
#define APART __attribute__((noinline))

static volatile int sum;

INLINED void check(int n) { if (n < 0) sum = 0; }

INLINED void add(int n)
{
    check(n);
    sum += n;
}

APART void sum_up(void)
{
    for (int i = 0; i < 10; i++) add(i);
    for (int i = 0; i < 10; i++) add(i);
}

int main(void)
{
    add(1);
    sum_up();
    printf("%d\n", sum);
    return 0;
}
