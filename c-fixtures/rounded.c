/* What the processor has noted of floating-point numbers before the program has had any.
 *
 *   cc -g -finstrument-functions -o rounded rounded.c -lm */
#include <fenv.h>
#include <stdio.h>

static void leaf(void) {}

int main(void)
{
    int before = fetestexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 1000; i++) leaf();
    printf("%d %d\n", before, fetestexcept(FE_ALL_EXCEPT));
    return 0;
}
