/* A library leaves its call by a jump back into the program, which goes on with a call of its own that has as large a frame.
 *
 *   cc -g -finstrument-functions -shared -fPIC -o libjumps.so jump-of-library-library.c
 *   cc -g -finstrument-functions -o jump-of-library jump-of-library.c -L. -ljumps -Wl,-rpath,'$ORIGIN'
 *
 *   jump-of-library N              N times `attempt` → `thrower`; from the tenth on, every third time `thrower` jumps back into
 *                                  `attempt`, which calls `after` then
 *   jump-of-library N by-pointer   the same, and both are called by one instruction */
#include <setjmp.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

void thrower(jmp_buf to, int number);

static jmp_buf back;
static volatile int sum;

APART static void before(void) { sum++; }

APART static void after(jmp_buf unused, int number)
{
    volatile char room[256];
    room[0] = unused != 0;
    sum += room[0] + number;
}

static void (*const functions[])(jmp_buf, int) = {thrower, after};

static int is_by_pointer;

APART static void attempt(int number)
{
    int has_jumped = setjmp(back) != 0;
    if (is_by_pointer) functions[has_jumped](back, number);
    else if (!has_jumped) thrower(back, number);
    else after(back, number);
}

APART static void step(int number)
{
    for (int i = 0; i < 40; i++) before();
    attempt(number);
}

int main(int argc, char **argv)
{
    is_by_pointer = argc > 2;
    int times = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    for (int i = 0; i < times; i++) step(i);
    return 0;
}
