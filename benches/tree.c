// A small call tree walked over and over: eleven functions, nineteen call paths, as the inner loop of a server has.
//   cc -O2 -fno-inline -fno-optimize-sibling-calls -finstrument-functions tree.c -o tree
//   ./tree N   walks it N times; prints a result and the number of calls
#include <stdio.h>
#include <stdlib.h>

static int d1(int x) { return x + 1; }
static int d2(int x) { return x + 2; }
static int d3(int x) { return x * 3; }
static int c1(int x) { return d1(x) + d2(x); }
static int c2(int x) { return d3(x) ^ d1(x); }
static int c3(int x) { return d2(x) + d2(x + 1); }
static int b1(int x) { return c1(x) + c2(x) + c3(x); }
static int b2(int x) { return c3(x) + c1(x); }
static int a(int x) { return b1(x) + b2(x) + d1(x); }

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 500000;
    volatile int sum = 0;
    for (int i = 0; i < n; i++) sum += a(i);
    printf("%d %ld\n", sum, 19L * n + 1);
    return 0;
}
