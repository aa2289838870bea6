/* A vfork child runs in its suspended parent's memory: what it calls is counted there, and calls that it leaves open by
 * _exit are not open in the parent.
 *
 *   cc -g -finstrument-functions -o vfork vfork.c
 *
 * Three rounds: `start` calls `before`, then the child calls `in_child`, which never returns, then the parent `after`. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline)) /* of two bodies inlined into one frame, nobody can tell which was left */

APART static void before(void) {}
APART static void after(void) {}

APART static void in_child(char *status)
{
    execl("/bin/sh", "sh", "-c", status, (char *)NULL);
    _exit(1);
}

static int start(void)
{
    before();
    pid_t child = vfork();
    if (child == 0) in_child("exit 5");
    int status;
    waitpid(child, &status, 0);
    after();
    return WEXITSTATUS(status);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += start();
    return sum;
}
