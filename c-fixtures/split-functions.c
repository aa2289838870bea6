/* What gcc makes of functions that it splits (-fpartial-inlining): their heads, with the enter hook, are in their callers, and what is left of
 * them has the exit hook, which is told where that was called. Written out, so that every compiler does it.
 *
 *   cc -g -finstrument-functions -o split-functions split-functions.c */
#define PLAIN __attribute__((noinline))
#define NO_HOOKS __attribute__((noinline, no_instrument_function))

void __cyg_profile_func_enter(void *, void *) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *, void *) __attribute__((no_instrument_function));

static volatile int sum, never;

PLAIN void leaf(int value) { sum += value; }

PLAIN void work(int times)
{
    for (int call = 0; call < times; call++) leaf(call);
}

/* Its end is a jump to the hook, where the compiler optimises that. */
PLAIN void jumps(int times)
{
    if (!never) work(times);
}

NO_HOOKS static void rest_that_jumps(int times)
{
    work(times);
    leaf(times);
    __cyg_profile_func_exit(jumps, __builtin_return_address(0));
}

/* Its end is a call of the hook. */
PLAIN void calls(int times)
{
    if (!never) work(times);
}

NO_HOOKS static int rest_that_calls(int times)
{
    work(times);
    leaf(times);
    __cyg_profile_func_exit(calls, __builtin_return_address(0));
    return sum;
}

/* Two of its arguments are on the stack. */
PLAIN void eight(int a, int b, int c, int d, int e, int f, int g, int h)
{
    sum += a + b + c + d + e + f + g + h;
}

/* Itself again, from its rest; gcc leaves the arguments of the call before it on the stack. */
PLAIN void recurs(int depth)
{
    if (!never) leaf(depth);
}

NO_HOOKS static void rest_that_recurs(int depth)
{
    leaf(depth);
    if (depth > 0) {
        eight(depth, 1, 2, 3, 4, 5, 6, 7);
        __cyg_profile_func_enter(recurs, __builtin_return_address(0));
        if (never) __cyg_profile_func_exit(recurs, __builtin_return_address(0));
        else rest_that_recurs(depth - 1);
    }
    leaf(depth);
    __cyg_profile_func_exit(recurs, __builtin_return_address(0));
}

PLAIN void outer(int turn)
{
    leaf(1);
    __cyg_profile_func_enter(jumps, __builtin_return_address(0));
    if (never) __cyg_profile_func_exit(jumps, __builtin_return_address(0));
    else rest_that_jumps(turn % 5);
    leaf(2);
    __cyg_profile_func_enter(calls, __builtin_return_address(0));
    if (never) __cyg_profile_func_exit(calls, __builtin_return_address(0));
    else sum += rest_that_calls(turn % 7);
    work(1);
    __cyg_profile_func_enter(recurs, __builtin_return_address(0));
    if (never) __cyg_profile_func_exit(recurs, __builtin_return_address(0));
    else rest_that_recurs(2);
    work(2);
}

int main(void)
{
    for (int turn = 0; turn < 35000; turn++) outer(turn);
    return 0;
}
