/* A program that has no file descriptor left for a while, just as its profile would have to grow.
 *
 *   cc -D_GNU_SOURCE -g -finstrument-functions -o no-descriptors no-descriptors.c
 *
 * `many` makes 8,191 paths (each level calls the next from two places) while there is none; then they are closed, and after
 * half a second `main` calls `later`, on a path of its own. */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile int sum;

#define LEVEL(name, next) \
    static void name(void) { next(); next(); }

static void leaf(void) { sum++; }
LEVEL(level_1, leaf)
LEVEL(level_2, level_1)
LEVEL(level_3, level_2)
LEVEL(level_4, level_3)
LEVEL(level_5, level_4)
LEVEL(level_6, level_5)
LEVEL(level_7, level_6)
LEVEL(level_8, level_7)
LEVEL(level_9, level_8)
LEVEL(level_10, level_9)
LEVEL(level_11, level_10)
LEVEL(many, level_11)

static void later(void) { sum++; }

int main(void)
{
    struct rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    int first = dup(0), last = first;
    for (int fd; (fd = dup(0)) >= 0;) last = fd;
    many();
    for (int fd = first; fd <= last; fd++) close(fd);
    usleep(500000);
    later();
    return 0;
}
