/* Many call paths: see many-paths.h.
 *
 *   cc -g -finstrument-functions -o paths paths.c */
#include <stdio.h>

#include "many-paths.h"

int main(void)
{
    level_0();
    printf("%d\n", leaves);
    return 0;
}
