/* The calls of stepped.c that throw and catch. Its compile lines are there. */
#include "stepped-parts.h"

#define APART __attribute__((noinline))

static volatile int sum;

namespace {
struct Guard {
    __attribute__((no_instrument_function)) ~Guard() { sum = sum + 1; }
};
}

extern "C" APART void throws()
{
    count_call(NUMBER_throws);
    throw 1;
}

extern "C" APART void passes()
{
    count_call(NUMBER_passes);
    Guard guard;
    throws();
}

extern "C" APART void catches()
{
    count_call(NUMBER_catches);
    try {
        passes();
    } catch (int) {
        sum = sum + 1;
    }
}
