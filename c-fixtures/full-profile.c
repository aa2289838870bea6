/* A library that is opened once the profile is full.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DLIBRARY -o late.so full-profile.c
 *   cc -g -finstrument-functions -o full-profile full-profile.c
 *
 *   full-profile LIBRARY          262,144 call paths of nine levels, each met once; then the library's `late` a hundred times, which
 *                                 calls `inner`
 *   full-profile LIBRARY waits    the same, and every tenth of the paths waits for a moment */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline))

#ifdef LIBRARY
static volatile int sum;

APART void inner(int n) { sum += n; }

APART void late(int n)
{
    inner(n);
    sum++;
}
#else
static volatile int sum;
static int may_wait;

__attribute__((noinline, no_instrument_function)) static void wait_a_moment(void)
{
    struct timespec moment = {0, 1};
    nanosleep(&moment, NULL);
}

#define NEXT(level)                                 \
    switch (n & 3) {                                \
    case 0: level##_0(n >> 2); break;               \
    case 1: level##_1(n >> 2); break;               \
    case 2: level##_2(n >> 2); break;               \
    default: level##_3(n >> 2);                     \
    }                                               \
    sum++;
#define FUNCTION(level, which, next) \
    APART static void level##_##which(unsigned n) { sum += which + (int)n; next }
#define LEVEL(level, next) \
    FUNCTION(level, 0, next) FUNCTION(level, 1, next) FUNCTION(level, 2, next) FUNCTION(level, 3, next)

LEVEL(nine, if (may_wait) wait_a_moment();)
LEVEL(eight, NEXT(nine))
LEVEL(seven, NEXT(eight))
LEVEL(six, NEXT(seven))
LEVEL(five, NEXT(six))
LEVEL(four, NEXT(five))
LEVEL(three, NEXT(four))
LEVEL(two, NEXT(three))
LEVEL(one, NEXT(two))

int main(int argc, char **argv)
{
    for (unsigned n = 0; n < 1 << 18; n++) {
        may_wait = argc > 2 && n % 10 == 0;
        NEXT(one)
    }
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*late)(int) = library ? (void (*)(int))dlsym(library, "late") : NULL;
    if (!late) return 1;
    for (int n = 0; n < 100; n++) late(n);
    return 0;
}
#endif
