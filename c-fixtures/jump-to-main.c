/* Jumps from deep down to `main`, in the instant in which a calibration window ends or at any other.
 *
 *   cc -g -finstrument-functions -o jump-to-main jump-to-main.c
 *
 * `main` calls `begin` 60 times, of which every eighth time does not return, and `leaf` 285 times. */
#include <setjmp.h>
#include <stdio.h>

#define APART __attribute__((noinline))

static volatile long sum;
static long fuel;
static jmp_buf back;

/* Called often in the end, so that no window that is under way then has anything else in it. */
APART static void rest(void) { sum++; }

APART static long leaf(long x)
{
    sum += x;
    return x + 1;
}

APART static void jump(void) { longjmp(back, 1); }

APART static void jump_later(long x)
{
    leaf(x);
    jump();
    leaf(x + 1);
}

APART static long deeper(long x)
{
    volatile long result = x;
    if (--fuel < 0) return result;
    result += deeper(x + 1);
    result += leaf(x / 2);
    return result;
}

APART static long begin(long x)
{
    volatile long result = x;
    result += deeper(x + 1);
    if ((x & 7) == 0) jump_later(x);
    return result;
}

int main(void)
{
    for (volatile int i = 0; i < 60; i++) {
        fuel = 400;
        if (!setjmp(back)) sum += begin(i);
        for (int k = 0; k < i % 11; k++) leaf(k);
    }
    for (int k = 0; k < 2000; k++) rest();
    printf("%ld\n", sum);
    return 0;
}
