/* A server that writes its title over its arguments and its environment, as PostgreSQL does, and forks.
 *
 *   cc -g -finstrument-functions -o title title.c
 *
 * Parent and child each call `work`, which calls `leaf` three times. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int sum;

static void leaf(void) { sum++; }

static void work(void)
{
    for (int i = 0; i < 3; i++) leaf();
}

static void write_title(char **argv)
{
    char *end = argv[0] + strlen(argv[0]);
    for (char **variable = environ; *variable; variable++) end = *variable + strlen(*variable);
    memset(argv[0], 'x', (size_t)(end - argv[0]));
    environ = NULL;
}

int main(int argc, char **argv)
{
    (void)argc;
    write_title(argv);
    pid_t child = fork();
    if (child < 0) abort();
    work();
    if (child) wait(NULL);
    return 0;
}
