/* The instrumented calls of stepped.c, which has the compile lines. */
#include "stepped-parts.h"
#include <stdio.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif
#define COUNT(name) count_call(NUMBER_##name)
#define UNINSTRUMENTED __attribute__((no_instrument_function))

static volatile int sum;

APART void household(void (*run)(void)) { COUNT(household), run(), sum++; }
APART void inner(void) { COUNT(inner), sum++; }
APART void outer(void) { COUNT(outer), inner(), inner(), sum++; }
APART void fresh(void) { COUNT(fresh), inner(), sum++; }
APART void holder(void (*what)(void)) { COUNT(holder), what(), sum++; }
APART void on_signal(void (*what)(void)) { COUNT(on_signal), what(), sum++; }
APART void fling(void (*leave)(void)) { COUNT(fling), leave(), sum++; }
APART void in_thread(void) { COUNT(in_thread), outer(), sum++; }

APART void climb(int depth, void (*at)(int))
{
    COUNT(climb);
    if (at) at(depth);
    if (depth > 1) climb(depth - 1, at);
    sum++;
}

APART void down(int depth)
{
    COUNT(down);
    if (depth > 1) down(depth - 1);
    sum++;
}

/* A root sees itself and what it calls, down to DIYTRACE_DEPTH. */
APART void entrance(void)
{
    enum weight outside = weight;
    if (weight == UNSEEN && scenario->weight == UNSEEN) weight = SEEN;
    COUNT(entrance);
    descend();
    weight = outside;
}

APART void descend(void)
{
    COUNT(descend);
    enum weight here = weight;
    if (scenario->handler == PERHAPS) weight = UNSEEN; /* at the deepest level */
    beyond();
    weight = here;
}

APART void beyond(void) { COUNT(beyond), sum++; }

#define TEN(X, tens) X(tens##0) X(tens##1) X(tens##2) X(tens##3) X(tens##4) X(tens##5) X(tens##6) X(tens##7) X(tens##8) X(tens##9)
#define THIRTY(X) TEN(X, 0) TEN(X, 1) TEN(X, 2)
#define HUNDRED(X, n)                                                                                                  \
    TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) TEN(X, n##5) TEN(X, n##6) TEN(X, n##7)              \
    TEN(X, n##8) TEN(X, n##9)
#define SIX_HUNDRED(X) HUNDRED(X, 0) HUNDRED(X, 1) HUNDRED(X, 2) HUNDRED(X, 3) HUNDRED(X, 4) HUNDRED(X, 5)

#define LEAF(n) APART static void leaf_##n(void) { count_call(LEAVES + 1##n - 100), sum++; }
#define LEAF_ENTRY(n) leaf_##n,
THIRTY(LEAF)
static void (*const leaves[])(void) = {THIRTY(LEAF_ENTRY)};

#define TWIG(n) APART static void twig_##n(int leaf) { count_call(TWIGS + 1##n - 100), leaves[leaf](), sum++; }
#define TWIG_ENTRY(n) twig_##n,
THIRTY(TWIG)
static void (*const twigs[])(int) = {THIRTY(TWIG_ENTRY)};

#define BRANCH(n)                                                                                                      \
    APART static void branch_##n(int twig, int leaf) { count_call(BRANCHES + 1##n - 100), twigs[twig](leaf), sum++; }
#define BRANCH_ENTRY(n) branch_##n,
THIRTY(BRANCH)
static void (*const branches[])(int, int) = {THIRTY(BRANCH_ENTRY)};

#define ONE_OF_MANY(n) APART static void many_##n(void) { count_call(MANY + 1##n - 1000), sum++; }
#define MANY_ENTRY(n) many_##n,
SIX_HUNDRED(ONE_OF_MANY)
static void (*const many[])(void) = {SIX_HUNDRED(MANY_ENTRY)};

UNINSTRUMENTED void leaf(int number) { leaves[number](); }
UNINSTRUMENTED void twig(int number, int leaf) { twigs[number](leaf); }
UNINSTRUMENTED void branch(int number, int twig, int leaf) { branches[number](twig, leaf); }
UNINSTRUMENTED void one_of_many(int number) { many[number](); }

UNINSTRUMENTED const char *name_of(int function, char room[16])
{
#define NAME(name) #name,
    static const char *const named[] = {NAMED(NAME)};
    if (function < LEAVES) return named[function];
    if (function < TWIGS) snprintf(room, 16, "leaf_%02d", function - LEAVES);
    else if (function < BRANCHES) snprintf(room, 16, "twig_%02d", function - TWIGS);
    else if (function < MANY) snprintf(room, 16, "branch_%02d", function - BRANCHES);
    else snprintf(room, 16, "many_%03d", function - MANY);
    return room;
}

extern void passes(void), throws(void);

UNINSTRUMENTED void *address_of(int function)
{
#define ADDRESS(name) (void *)name,
    void *module_call = shared->module[0], *module_step = shared->module[1];
    void *const named[] = {NAMED(ADDRESS)};
    return function < LEAVES     ? named[function]
           : function < TWIGS    ? (void *)leaves[function - LEAVES]
           : function < BRANCHES ? (void *)twigs[function - TWIGS]
           : function < MANY     ? (void *)branches[function - BRANCHES]
                                 : (void *)many[function - MANY];
}
