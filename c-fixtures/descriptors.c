/* Descriptors are as they would be: the next one that is free has the same number, and a program that is executed
 * inherits none.
 *
 *   cc -g -finstrument-functions -o descriptors descriptors.c */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_another(void) { return open("/dev/null", O_RDONLY); }

int main(void)
{
    printf("the next: %d %d\n", open_another(), open_another());
    fflush(stdout);
    /* The shell's own are in the list; all that is asked is that it be the same list. */
    return system("ls /proc/self/fd");
}
