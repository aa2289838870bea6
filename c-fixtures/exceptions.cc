// C++ exceptions: gcc calls exit hooks while it unwinds frames with cleanups, clang does not.
/*
 *   c++ -g -finstrument-functions -o exceptions exceptions.cc
 *
 * Five hundred rounds: `attempt` calls `outer` → `guarded` → `thrower`, which throws; `guarded` has an object to destroy.
 * The handler in `attempt` calls `handle`, and then `attempt` calls `after`. Every other round nothing is thrown. */
static volatile int sum;

struct Guard {
    __attribute__((no_instrument_function)) ~Guard() { sum = sum + 1; }
};

#define APART __attribute__((noinline))

APART static void thrower(int round)
{
    if (round % 2) throw round;
}

APART static void guarded(int round)
{
    Guard guard;
    thrower(round);
}

APART static void outer(int round) { guarded(round); }
APART static void handle() { sum = sum + 1; }
APART static void after() { sum = sum + 1; }

APART static void attempt(int round)
{
    try {
        outer(round);
    } catch (int) {
        handle();
    }
    after();
}

int main()
{
    for (int round = 0; round < 500; round++) attempt(round);
    return sum == 500 + 250 + 500 ? 0 : 1;
}
