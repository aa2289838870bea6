/* Recursion: one function or several that call each other, deep, branching.
 *
 *   cc -g -finstrument-functions -o recursion recursion.c
 *
 *   recursion down N       N + 1 calls inside each other
 *   recursion fib N        2 F(N+1) - 1 calls, where F(1) = F(2) = 1
 *   recursion parity N     is_even and is_odd take turns
 *   recursion ring N       first → second → third → first, N rounds
 *   recursion branch N     each call makes three, by two functions and two places: 3^0 + … + 3^N calls */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int down(int n) { return n ? 1 + down(n - 1) : 0; }

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static int is_odd(int n);
static int is_even(int n) { return n ? is_odd(n - 1) : 1; }
static int is_odd(int n) { return n ? is_even(n - 1) : 0; }

static int first(int n);
static int third(int n) { return first(n - 1) + 1; }
static int second(int n) { return third(n) + 1; }
static int first(int n) { return n ? second(n) + 1 : 0; }

static int left(int n);
static int right(int n) { return n ? left(n - 1) + right(n - 1) + left(n - 1) : 1; }
static int left(int n) { return n ? right(n - 1) + left(n - 1) + right(n - 1) : 1; }

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    int n = (int)strtol(argv[2], NULL, 10), result = 0;
    if (!strcmp(argv[1], "down")) result = down(n);
    if (!strcmp(argv[1], "fib")) result = fib(n);
    if (!strcmp(argv[1], "parity")) result = is_even(n);
    if (!strcmp(argv[1], "ring")) result = first(n);
    if (!strcmp(argv[1], "branch")) result = left(n);
    printf("%d\n", result);
    return 0;
}
