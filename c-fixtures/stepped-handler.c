/* The handler of stepped.c, which has the compile lines: what the calls count for that it makes, and those it interrupts. */
#include "stepped-parts.h"

static int number_of(void *address)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (address && address_of(i) == address) return i;
    return -1;
}

static int is_root(int function)
{
    return scenario->weight == UNSEEN && (function == NUMBER_entrance || (weight == SEEN && function == NUMBER_descend));
}

/* Called where the handler comes. */
void act(void *interrupted_enter)
{
    shared->acts++;
    int function = number_of(interrupted_enter), is_seen = weight != UNSEEN || (function >= 0 && is_root(function));
    if (action->leaves && function >= 0 && is_seen) __atomic_add_fetch(&shared->calls[function].most, 1, __ATOMIC_RELAXED);
    if (action->doubles && function >= 0 && is_seen) __atomic_sub_fetch(&shared->calls[function].least, 1, __ATOMIC_RELAXED);
    enum weight before = weight;
    /* Where a root's own hooks are interrupted, or a level's, who could say what is inside? */
    if (scenario->weight == UNSEEN) weight = scenario->handler == PERHAPS || weight == UNSEEN ? PERHAPS : weight;
    action->act();
    weight = before;
}
