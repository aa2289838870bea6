/* A server's call paths without its work: HANDLERS handlers of 111 paths each are called once, then the first ACTIVE of them every PERIOD
 * milliseconds (1 unless told), until standard input ends. 140 functions, three levels of which have hundreds of paths each.
 *
 *   cc -O2 -g -finstrument-functions -o handlers handlers.c && ./handlers HANDLERS ACTIVE [PERIOD] */
#include <poll.h>
#include <stdlib.h>

static volatile unsigned long sink;

typedef void leaf_function(void);
typedef void function(int);

#define LEAF(n) __attribute__((noinline)) static void leaf_##n(void) { sink += n; }
#define TEN(what, n) what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) what(n##8) what(n##9)
#define HUNDRED(what) TEN(what, 1) TEN(what, 2) TEN(what, 3) TEN(what, 4) TEN(what, 5) TEN(what, 6) TEN(what, 7) TEN(what, 8) TEN(what, 9) TEN(what, 10)
HUNDRED(LEAF)
#define NAME(n) leaf_##n,
static leaf_function *const leaves[] = {HUNDRED(NAME)};

#define STEP(n) \
    __attribute__((noinline)) static void step_##n(int first) \
    { \
        for (int leaf = 0; leaf < 10; leaf++) \
            leaves[(first + leaf) % 100](); \
    }
TEN(STEP, 1)
TEN(STEP, 2)
#define STEP_NAME(n) step_##n,
static function *const steps[] = {TEN(STEP_NAME, 1) TEN(STEP_NAME, 2)};

#define HANDLER(n) \
    __attribute__((noinline)) static void handler_##n(int handler) \
    { \
        for (int step = 0; step < 10; step++) \
            steps[(handler + step) % 20](step * 10); \
    }
TEN(HANDLER, 1)
TEN(HANDLER, 2)
#define HANDLER_NAME(n) handler_##n,
static function *const handlers[] = {TEN(HANDLER_NAME, 1) TEN(HANDLER_NAME, 2)};

int main(int count, char **arguments)
{
    int all = count > 1 ? atoi(arguments[1]) : 20, active = count > 2 ? atoi(arguments[2]) : all;
    int period = count > 3 ? atoi(arguments[3]) : 1;
    struct pollfd input = {0, POLLIN, 0};
    for (int handler = 0; handler < all; handler++)
        handlers[handler % 20](handler);
    while (poll(&input, 1, period) == 0)
        for (int handler = 0; handler < active; handler++)
            handlers[handler % 20](handler);
    return 0;
}
