/* What the parts of stepped.c, which has the compile lines, know of the trial that they are in, and what it counts. */
#include "stepped-parts.h"

__thread enum weight weight;
struct shared *shared;
struct control *control;
const struct scenario *scenario;
const struct action *action;
struct trial trial;

void count_call(int function)
{
    if (weight != UNSEEN) __atomic_add_fetch(&shared->calls[function].most, 1, __ATOMIC_RELAXED);
    if (weight == SEEN) __atomic_add_fetch(&shared->calls[function].least, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->waiting_for, 0, __ATOMIC_RELAXED); /* last: until here, it may not have been counted */
}
