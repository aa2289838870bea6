/* A tree of calls to look at through roots, depth and exclusions.
 *
 *   cc -g -finstrument-functions -o roots roots.c
 *
 *   main ─ setup ×1 ─ helper ×1
 *        ├ outer ×2 ┬ middle ×3 ─ inner ×2 ─ helper ×1
 *        │          └ helper ×1
 *        └ hidden_step ×4 ─ helper ×1                      (a number is that of calls by each call above) */
#include <stdio.h>

volatile int sum;

void helper(void) { sum++; }
void inner(void) { helper(); }
void setup(void) { helper(); }
static void hidden_step(void) { helper(); }

void middle(void)
{
    for (int i = 0; i < 2; i++) inner();
}

void outer(void)
{
    for (int i = 0; i < 3; i++) middle();
    helper();
}

int main(void)
{
    setup();
    for (int i = 0; i < 2; i++) outer();
    for (int i = 0; i < 4; i++) hidden_step();
    printf("%d\n", sum);
    return 0;
}
