/* Builds of one program that differ in one thing: the code of `plan` (-DPLAN=…), how much `fetch` is asked for (-DWIDTH=…, a number in
 * memory), where everything lies (-DAHEAD), whether `helper` is called or part of `plan` (-DINLINED), or how long `doze` waits (-DDOZE=…).
 *
 *   cc -g -finstrument-functions causes.c -o causes
 *
 *   causes [REQUESTS]
 *
 * Calls, with 1,000 requests, as if nobody says otherwise: main 1, request 1,000, plan 1,000, helper 1,000, deform 1,000, fetch 1,000,
 * next 4,000 (WIDTH each), doze 1.
 */
#include <stdlib.h>
#include <unistd.h>

#ifndef PLAN
#define PLAN 40
#endif
#ifndef WIDTH
#define WIDTH 4
#endif
#ifndef DOZE
#define DOZE 0
#endif

static volatile unsigned sum;
static volatile int width = WIDTH;
static volatile int microseconds = DOZE;

#ifdef AHEAD
/* Nobody calls it: all that follows lies elsewhere. */
void ahead(void)
{
    for (unsigned step = 0; step < 100; step++) sum = sum * 1664525u + step;
}
#endif

__attribute__((no_instrument_function)) static inline void work(unsigned steps)
{
    for (unsigned step = 0; step < steps; step++) sum = sum * 1664525u + 1013904223u;
}

#ifndef INLINED
__attribute__((noinline)) static void helper(void) { work(20); }
#endif

__attribute__((noinline)) static void plan(void)
{
    work(PLAN);
#ifdef INLINED
    work(20);
#else
    helper();
#endif
}

__attribute__((noinline)) static void deform(void) { work(30); }
__attribute__((noinline)) static void next(void) { work(5); }

__attribute__((noinline)) static void fetch(void)
{
    for (int n = 0; n < width; n++) next();
}

__attribute__((noinline)) static void request(void)
{
    plan();
    deform();
    fetch();
}

__attribute__((noinline)) static void doze(void)
{
    if (microseconds) usleep(microseconds);
}

int main(int arguments, char **argument)
{
    int requests = arguments > 1 ? atoi(argument[1]) : 1000;
    for (int done = 0; done < requests; done++) request();
    doze();
    return 0;
}
