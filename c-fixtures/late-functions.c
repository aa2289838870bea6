/* Functions that are first met once the profile is full of paths.
 *
 *   cc -g -finstrument-functions -o late-functions late-functions.c
 *
 *   late-functions    262,144 call paths, each met once; then each of 1,536 functions twenty times, which take from
 *                     nothing to some microseconds. Each calls `leaf` */

#define APART __attribute__((noinline))

#include "numbered-paths.h"

APART static void leaf(void) { sum++; }

/* Each of the 1,536 is told by the five figures behind its name. */
#define LATE(name)                               \
    APART static void late_##name(int n)         \
    {                                            \
        for (int i = 0; i < 1 << n; i++) sum++;  \
        leaf();                                  \
        sum++;                                   \
    }
#define CALL(name) late_##name(n % 12);
#define OF_4(each, name) each(name##0) each(name##1) each(name##2) each(name##3)
#define OF_16(each, name) OF_4(each, name##0) OF_4(each, name##1) OF_4(each, name##2) OF_4(each, name##3)
#define OF_64(each, name) OF_16(each, name##0) OF_16(each, name##1) OF_16(each, name##2) OF_16(each, name##3)
#define OF_256(each, name) OF_64(each, name##0) OF_64(each, name##1) OF_64(each, name##2) OF_64(each, name##3)
#define ALL(each) \
    OF_256(each, 0) OF_256(each, 1) OF_256(each, 2) OF_256(each, 3) OF_256(each, 4) OF_256(each, 5)

ALL(LATE)

APART static void fill_profile(void)
{
    for (unsigned n = 0; n < PATHS; n++) numbered_path(n);
}

int main(void)
{
    fill_profile();
    for (int n = 0; n < 20; n++) { ALL(CALL) }
    return 0;
}
