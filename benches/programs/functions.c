/* A large program of which little is in use: 2000 functions are called once, then the first ACTIVE of them every PERIOD milliseconds (1 unless
 * told), until standard input ends.
 *
 *   cc -O2 -g -finstrument-functions -o functions functions.c && ./functions ACTIVE [PERIOD] */
#include <poll.h>
#include <stdlib.h>

static volatile unsigned long sink;

typedef void function(void);

#define FUNCTION(n) __attribute__((noinline)) static void function_##n(void) { sink += n; }
#define NAME(n) function_##n,
#define TEN(what, n) what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) what(n##8) what(n##9)
#define HUNDRED(what, n) TEN(what, n##0) TEN(what, n##1) TEN(what, n##2) TEN(what, n##3) TEN(what, n##4) \
    TEN(what, n##5) TEN(what, n##6) TEN(what, n##7) TEN(what, n##8) TEN(what, n##9)
#define THOUSAND(what, n) HUNDRED(what, n##0) HUNDRED(what, n##1) HUNDRED(what, n##2) HUNDRED(what, n##3) HUNDRED(what, n##4) \
    HUNDRED(what, n##5) HUNDRED(what, n##6) HUNDRED(what, n##7) HUNDRED(what, n##8) HUNDRED(what, n##9)

THOUSAND(FUNCTION, 1)
THOUSAND(FUNCTION, 2)
static function *const functions[2000] = {THOUSAND(NAME, 1) THOUSAND(NAME, 2)};

int main(int count, char **arguments)
{
    int active = count > 1 ? atoi(arguments[1]) : 20, period = count > 2 ? atoi(arguments[2]) : 1;
    struct pollfd input = {0, POLLIN, 0};
    for (int number = 0; number < 2000; number++)
        functions[number]();
    while (poll(&input, 1, period) == 0)
        for (int number = 0; number < active; number++)
            functions[number]();
    return 0;
}
