/* 262,144 call paths, each met once, which fill the profile; as many inside a recursion that branches into more paths than are told apart;
 * then two functions that are met first.
 *
 *   cc -g -finstrument-functions -o full-recursion full-recursion.c
 *
 * `again` calls itself ten times, from two places, by the bits of the path's number, and then meets the path. */
#include "numbered-paths.h"

__attribute__((noinline)) static void again(int levels, unsigned n)
{
    if (levels == 0) {
        numbered_path(n);
    } else if (n >> levels & 1) {
        again(levels - 1, n);
        sum++;
    } else {
        again(levels - 1, n);
        sum += 2;
    }
}

__attribute__((noinline)) static void inner(void) { sum++; }

__attribute__((noinline)) static void late(void)
{
    inner();
    sum++;
}

int main(void)
{
    for (unsigned n = 0; n < PATHS; n++) numbered_path(n);
    for (unsigned n = 0; n < PATHS; n++) again(10, n);
    for (int n = 0; n < 100; n++) late();
    return 0;
}
