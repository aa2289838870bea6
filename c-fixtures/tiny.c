/* Functions that cost far more to record than they take, and others that do not.
 *
 *   cc -g -finstrument-functions -o tiny tiny.c
 *
 * main calls `work`, which takes long, and `next_line` 20 times each; `next_line` calls `next` and `is_space` 20,000 times each. */
#include <stdio.h>

static volatile unsigned long sum;

__attribute__((noinline)) static int is_space(int c) { return c == 32; }

__attribute__((noinline)) static int next(int at) { return at + 1; }

__attribute__((noinline)) static void next_line(void)
{
    int at = 0;
    for (int i = 0; i < 20000; i++) at = next(at) + is_space(at);
    sum += at;
}

__attribute__((noinline)) static void work(void)
{
    for (unsigned long i = 0; i < 2000000; i++) sum += i;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        work();
        next_line();
    }
    printf("%lu\n", sum);
    return 0;
}
