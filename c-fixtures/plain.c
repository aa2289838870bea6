/* Plain calls. `thrice` is called three times, and calls `leaf` twice each time; `once` calls it once.
 *
 *   cc -g -finstrument-functions -o plain plain.c
 *
 * It ends with status 7 and writes to both streams. */
#include <stdio.h>

static volatile int sum;

static void leaf(void) { sum++; }

static void once(void) { leaf(); }

static void thrice(void)
{
    leaf();
    leaf();
}

int main(void)
{
    once();
    for (int i = 0; i < 3; i++) thrice();
    printf("%d leaves\n", sum);
    fprintf(stderr, "done\n");
    return 7;
}
