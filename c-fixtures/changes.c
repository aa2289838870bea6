/* Builds of one program that differ in one thing: what a call of `parse` costs (-DPARSE=…), how often `handle` calls `lookup`
 * (-DLOOKUPS=…), what a function is called (-Drender=…), or whether there is one (-DAUDIT).
 *
 *   cc -g -finstrument-functions changes.c -o changes
 *
 *   changes [REQUESTS]
 *
 * Calls, with 1,000 requests, as if nobody says otherwise: main 1, handle 1,000, parse 1,000, lookup 4,000 (LOOKUPS each), compare 8,000 (2 a lookup),
 * render 1,000; with AUDIT, audit 1,000.
 */
#include <stdlib.h>

#ifndef PARSE
#define PARSE 2000
#endif
#ifndef LOOKUPS
#define LOOKUPS 4
#endif

static volatile unsigned sum;

/* Each step waits for the one before: a known time, whatever else the processor could do beside it. */
__attribute__((no_instrument_function)) static inline void work(unsigned steps)
{
    unsigned value = sum;
    for (unsigned step = 0; step < steps; step++) value = value * 1664525u + 1013904223u;
    sum = value;
}

__attribute__((noinline)) static void parse(void) { work(PARSE); }
__attribute__((noinline)) static void compare(void) { work(100); }
__attribute__((noinline)) static void render(void) { work(1500); }

__attribute__((noinline)) static void lookup(void)
{
    work(300);
    compare();
    compare();
}

#ifdef AUDIT
__attribute__((noinline)) static void audit(void) { work(50); }
#endif

__attribute__((noinline)) static void handle(void)
{
    parse();
    for (int n = 0; n < LOOKUPS; n++) lookup();
    render();
#ifdef AUDIT
    audit();
#endif
}

int main(int arguments, char **argument)
{
    int requests = arguments > 1 ? atoi(argument[1]) : 1000;
    for (int request = 0; request < requests; request++) handle();
    return 0;
}
