/* A program that executes itself in its own place: two families, one after the other, with one process number.
 *
 *   cc -g -finstrument-functions -o exec exec.c
 *
 * `early` is called twice before, `late` three times after. */
#include <unistd.h>

static void early(void) {}
static void late(void) {}

int main(int argc, char **argv)
{
    if (argc == 1) {
        early();
        early();
        execl("/proc/self/exe", argv[0], "again", (char *)NULL);
        return 1;
    }
    for (int i = 0; i < 3; i++) late();
    return 0;
}
