/* A loop over functions that gcc splits (-fpartial-inlining): their heads, with the enter hook, are in the loop, and what is left of them has the
 * exit hook. Written out, as in split-functions.c, so that every compiler does it. In between is a body that is inlined as a whole.
 *
 *   cc -g -finstrument-functions -o split-loop split-loop.c */
#define PLAIN __attribute__((noinline))
#define NO_HOOKS __attribute__((noinline, no_instrument_function))

void __cyg_profile_func_enter(void *, void *) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *, void *) __attribute__((no_instrument_function));

static volatile int sum;

PLAIN void leaf(int value) { sum += value; }
PLAIN void split(int value) { sum += value; }
PLAIN void whole(int value) { sum += value; }

NO_HOOKS static void rest_of_split(int value)
{
    leaf(value);
    __cyg_profile_func_exit(split, __builtin_return_address(0));
}

PLAIN void loop(int turns)
{
    for (int turn = 0; turn < turns; turn++) {
        __cyg_profile_func_enter(whole, __builtin_return_address(0));
        __cyg_profile_func_enter(split, __builtin_return_address(0));
        rest_of_split(turn);
        leaf(1);
        __cyg_profile_func_exit(whole, __builtin_return_address(0));
    }
}

int main(void)
{
    loop(100000);
    return 0;
}
