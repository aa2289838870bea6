/* longjmp over three frames, a thousand times: `attempt` calls `level_1` → `level_2` → `level_3`, which jumps back; then
 * `attempt` calls `after`.
 *
 *   cc -g -finstrument-functions -o longjmp longjmp.c */
#include <setjmp.h>
#include <stdio.h>

#define APART __attribute__((noinline)) /* of two bodies inlined into one frame, nobody can tell which was left */

static jmp_buf back;
static volatile int sum;

APART static void after(void) { sum++; }
APART static void level_3(void) { longjmp(back, 1); }
APART static void level_2(void) { level_3(); }
APART static void level_1(void) { level_2(); }

static void attempt(void)
{
    if (!setjmp(back)) level_1();
    after();
}

int main(void)
{
    for (int i = 0; i < 1000; i++) attempt();
    printf("%d\n", sum);
    return 0;
}
