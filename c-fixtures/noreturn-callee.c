/* A call that does not return, as the last instruction of its function: it would return to the first of the next one.
 *
 *   cc -g -falign-functions=1 -finstrument-functions -o noreturn-callee noreturn-callee.c
 *
 *   noreturn-callee N    N calls of `thrower`, which jumps back to `main`; `main` calls `next` each time */
#include <setjmp.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static jmp_buf back;
static volatile int sum;

APART __attribute__((noreturn)) static void thrower(void)
{
    sum++;
    longjmp(back, 1);
}

APART static void attempt(int n)
{
    if (n >= 0) thrower();
}

APART static void next(void) { sum++; }

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    for (volatile int i = 0; i < n; i++) {
        if (setjmp(back) == 0) attempt(i);
        next();
    }
    return 0;
}
