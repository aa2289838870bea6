/* Many call paths: see many-paths.h. With an argument `main` does not return: it exits.
 *
 *   cc -g -finstrument-functions -o paths paths.c */
#include <stdio.h>
#include <stdlib.h>

#include "many-paths.h"

int main(int argc, char **argv)
{
    (void)argv;
    level_0();
    printf("%d\n", leaves);
    if (argc > 1) exit(0);
    return 0;
}
