/* A function that has arguments of its last call on the stack as it returns: its exit hook runs below where its enter hook did. So
 * gcc compiles a call with more arguments than there are registers for.
 *
 *   cc -g -finstrument-functions -o pushed-arguments pushed-arguments.c
 *
 * main → step ×20000 → prepare → many → leaf up to 399 times */
#define APART __attribute__((noinline))

static volatile int sum;

APART static void leaf(int value) { sum += value; }

APART static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
    for (int i = 0; i < a; i++) leaf(i + h);
    return b + c + d + e + f + g;
}

APART static int prepare(int times) { return many(times, 1, 2, 3, 4, 5, 6, 7) + 1; }

APART static int step(int number) { return prepare(number % 400); }

int main(void)
{
    for (int i = 0; i < 20000; i++) sum += step(i);
    return 0;
}
