// Exceptions that cross more than one function.
/*
 *   c++ -g -finstrument-functions -shared -fPIC -o libthrows.so throws-library.cc
 *   c++ -g -finstrument-functions -o throws throws.cc -L. -lthrows -Wl,-rpath,'$ORIGIN'
 *
 *   throws static      a function's static object throws while it is made, four times of five
 *   throws across      a library's `library_each` calls `visit` of the program, which throws through it on every third
 *   throws again       `middle` catches what `inner` throws and throws it again; and once more in another frame
 *   throws deep        over a recursion of fifty calls, each with an object to destroy
 *
 * Three hundred rounds each, or as many as a second argument says, and `after` is called at the end of each. */
#include <cstdlib>
#include <cstring>

void library_each(int n, void (*visit)(int));

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static volatile int sum;

struct Guard {
    UNSEEN ~Guard() { sum = sum + 1; }
};

struct Picky {
    APART explicit Picky(int round)
    {
        if (round % 5 != 4) throw round;
    }
    int unused = 0;
};

APART static void after() { sum = sum + 1; }

APART static void with_static(int round)
{
    static Picky picky(round);
    sum = sum + picky.unused;
}

APART static void visit(int n)
{
    if (n == 3) throw n;
}

APART static void inner(int round) { throw round; }

APART static void middle(int round)
{
    try {
        Guard guard;
        inner(round);
    } catch (int) {
        after();
        throw;
    }
}

APART static void outermost(int round)
{
    try {
        middle(round);
    } catch (...) {
        throw 1.0;
    }
}

APART static void deep(int n)
{
    Guard guard;
    if (n == 0) throw 0;
    deep(n - 1);
}

APART static void attempt(const char *how, int round)
{
    try {
        if (!strcmp(how, "static")) with_static(round);
        if (!strcmp(how, "across")) library_each(round % 3 ? 3 : 4, visit);
        if (!strcmp(how, "again")) outermost(round);
        if (!strcmp(how, "deep")) deep(49);
    } catch (int) {
    } catch (double) {
    }
    after();
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    int rounds = argc > 2 ? std::atoi(argv[2]) : 300;
    for (int round = 0; round < rounds; round++) attempt(argv[1], round);
    return 0;
}
