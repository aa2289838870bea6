/* A program with a `getauxval` of its own, instrumented as everything: what starts before main may ask it.
 *
 *   cc -g -finstrument-functions -o own-auxiliary own-auxiliary.c
 *
 * main asks it once; it calls `next_one`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>

#define APART __attribute__((noinline))

APART static unsigned long next_one(unsigned long type)
{
    unsigned long (*next)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
    return next(type);
}

APART unsigned long getauxval(unsigned long type)
{
    unsigned long value = next_one(type);
    return value;
}

int main(void) { return getauxval(AT_PAGESZ) != 4096; }
