// The smallest function called the most: two hooks for a nanosecond of work.
//   ./fib N   calls fib 2*F(N+1)-1 times; prints F(N)
#include <stdio.h>
#include <stdlib.h>

static int fib(int n) {
    if (n < 2) return n;
    int a = fib(n - 1);
    int b = fib(n - 2);
    return a + b;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 32;
    printf("%d\n", fib(n));
    return 0;
}
