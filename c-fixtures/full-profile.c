/* A library that is opened once the profile is full.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DLIBRARY -o late.so full-profile.c
 *   cc -g -finstrument-functions -o full-profile full-profile.c
 *
 *   full-profile LIBRARY          262,144 call paths of nine levels, each met once; then the library's `late` a hundred times, which
 *                                 calls `inner`
 *   full-profile LIBRARY waits    the same, and every tenth of the paths waits for a moment
 *   full-profile LIBRARY twelve   the same, and each is met twelve times */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
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
static int may_wait;

__attribute__((noinline, no_instrument_function)) static void wait_a_moment(void)
{
    struct timespec moment = {0, 1};
    nanosleep(&moment, NULL);
}

#define AT_THE_END if (may_wait) wait_a_moment();
#include "numbered-paths.h"

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "";
    int times = strcmp(how, "twelve") ? 1 : 12;
    for (unsigned n = 0; n < PATHS; n++) {
        may_wait = !strcmp(how, "waits") && n % 10 == 0;
        for (int time = 0; time < times; time++) numbered_path(n);
    }
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*late)(int) = library ? (void (*)(int))dlsym(library, "late") : NULL;
    if (!late) return 1;
    for (int n = 0; n < 100; n++) late(n);
    return 0;
}
#endif
