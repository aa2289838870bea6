// Exceptions that leave bodies which are inlined: clang calls no exit hook of them, and they have no frame of their own.
/*
 *   c++ -g -finstrument-functions -o left-inline left-inline.cc
 *
 * Of twelve rounds, `risky` throws in every third, out of itself or out of `inner` inside it; what `work` calls then is
 * its own call: `after`, out of line, and `note`, which is inlined, too. `kept` catches in a body that goes on. */

#define APART __attribute__((noinline))
#define INLINED __attribute__((always_inline)) inline

static volatile int sum;

APART static void inside(int round) { sum = sum + round; }
APART static void after(int round) { sum = sum - round; }
APART static void fail(int round) { throw round; }

static INLINED void inner(int round)
{
    inside(round);
    if (round % 6 == 5) fail(round);
}

static INLINED void risky(int round)
{
    inner(round);
    if (round % 6 == 2) fail(round);
    inside(round);
}

static INLINED void note(int round) { sum = sum ^ round; }

static INLINED void kept(int round)
{
    try {
        inner(round);
    } catch (int) {
        after(round);
    }
    inside(round);
}

APART static void work()
{
    for (int round = 0; round < 12; round++) {
        try {
            risky(round);
        } catch (int) {
        }
        after(round);
        note(round);
    }
}

APART static void keep()
{
    for (int round = 0; round < 12; round++) {
        kept(round);
        after(round);
    }
}

int main()
{
    work();
    keep();
    return 0;
}
