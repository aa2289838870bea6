/* An interpreter's loop: all commands are called from one place. One that fails jumps back there, and the next one has a larger frame, in which
 * what was on the stack before has not been written over yet.
 *
 *   cc -g -finstrument-functions -o commands commands.c
 *
 * `main` calls `fails_0`, `works_0`, `fails_1` and so on, to `works_7`, a hundred times. */
#include <setjmp.h>

#define APART __attribute__((noinline))

static jmp_buf loop;
static volatile int sum;

#define COMMANDS(i)                                          \
    APART static void fails_##i(int n)                       \
    {                                                        \
        volatile int few[8];                                 \
        few[0] = n;                                          \
        sum += few[0];                                       \
        longjmp(loop, 1);                                    \
    }                                                        \
    APART static void works_##i(int n)                       \
    {                                                        \
        volatile char many[200 + 40 * i];                    \
        many[0] = n;                                         \
        sum += many[0];                                      \
    }

COMMANDS(0)
COMMANDS(1)
COMMANDS(2)
COMMANDS(3)
COMMANDS(4)
COMMANDS(5)
COMMANDS(6)
COMMANDS(7)

static void (*const commands[])(int) = {
    fails_0, works_0, fails_1, works_1, fails_2, works_2, fails_3, works_3,
    fails_4, works_4, fails_5, works_5, fails_6, works_6, fails_7, works_7,
};

int main(void)
{
    static volatile unsigned next = 0;
    setjmp(loop);
    while (next < 1600) {
        unsigned now = next++;
        commands[now % 16](now);
    }
    return 0;
}
