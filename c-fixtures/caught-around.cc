// Exceptions that leave a body which is inlined into the function that catches them.
/*
 *   c++ -g -finstrument-functions -o caught-around caught-around.cc
 *
 * Seven of eight bodies throw; what their function calls before is more or less, so windows end anywhere. */
#define APART __attribute__((noinline))

static volatile long sum;

APART void leaf() { sum = sum + 1; }

static inline __attribute__((always_inline)) void body(int turn)
{
    leaf();
    if (turn % 8 != 0)
        throw turn;
}

APART void handle(int turn)
{
    for (int call = 0; call < turn % 50; call++)
        leaf();
    try {
        body(turn);
    } catch (int) {
        leaf();
    }
}

int main()
{
    for (int turn = 0; turn < 8000; turn++)
        handle(turn);
}
