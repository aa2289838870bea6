/* One program as it is after a refactoring that leaves what it does as it was: `check` has another name (-DRENAMED), a part of `parse` is
 * a function of its own (-DSPLIT), `scan` is written out where it was called (-DMERGED) or inlined without hooks (-DINLINED), the end of
 * `store` is called after it (-DOUTLINED), what `check` and `store` have in common is one function (-DEXTRACTED), a loop is in `store`
 * instead of `check` (-DSHIFTED), or `check` is called by `parse` (-DREORDERED).
 *
 *   cc -g -finstrument-functions refactored.c -o refactored
 *
 *   refactored [REQUESTS]
 *
 * Calls, with 1,000 requests, as if nobody says otherwise: main 1, and 1,000 each of request, parse, scan, check, store.
 */
#include <stdlib.h>

static volatile unsigned sum;

/* Written out wherever it stands, as a macro is. */
#define WORK(STEPS) for (unsigned step = 0; step < (STEPS); step++) sum = sum * 1664525u + 1013904223u

#ifdef RENAMED
#define check verify
#endif

#ifdef EXTRACTED
__attribute__((noinline)) static void common(void) { WORK(10); }
#define COMMON common()
#else
#define COMMON WORK(10)
#endif

__attribute__((noinline)) static void check(void)
{
#ifndef SHIFTED
    WORK(15);
#endif
    WORK(35);
    COMMON;
}

#if defined INLINED
__attribute__((always_inline, no_instrument_function)) static inline void scan(void) { WORK(50); }
#elif !defined MERGED
__attribute__((noinline)) static void scan(void) { WORK(50); }
#endif

#ifdef SPLIT
__attribute__((noinline)) static void tokenise(void) { WORK(80); }
#endif

__attribute__((noinline)) static void parse(void)
{
    WORK(120);
#ifdef SPLIT
    tokenise();
#else
    WORK(80);
#endif
#ifdef MERGED
    WORK(50);
#else
    scan();
#endif
#ifdef REORDERED
    check();
#endif
}

#ifdef OUTLINED
__attribute__((noinline)) static void flush(void) { WORK(15); }
#endif

__attribute__((noinline)) static void store(void)
{
    WORK(15);
    COMMON;
#ifdef SHIFTED
    WORK(15);
#endif
#ifndef OUTLINED
    WORK(15);
#endif
}

__attribute__((noinline)) static void request(void)
{
    parse();
#ifndef REORDERED
    check();
#endif
    store();
#ifdef OUTLINED
    flush();
#endif
}

int main(int arguments, char **argument)
{
    int requests = arguments > 1 ? atoi(argument[1]) : 1000;
    for (int done = 0; done < requests; done++) request();
    return 0;
}
