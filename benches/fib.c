// The smallest function called the most: two hooks for a nanosecond of work.
//   cc -O2 -fno-inline -fno-optimize-sibling-calls -finstrument-functions fib.c -o fib
//   ./fib N   calls fib 2*F(N+1)-1 times; prints F(N) and the number of calls
#include <stdio.h>
#include <stdlib.h>

static long calls;

static int fib(int n) {
    calls++;
    if (n < 2) return n;
    int a = fib(n - 1);
    int b = fib(n - 2);
    return a + b;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 32;
    int result = fib(n);
    printf("%d %ld\n", result, calls + 1); // main is a call as well
    return 0;
}
