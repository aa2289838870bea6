/* One fork in `split`, called by main. The parent calls `before`, then `after`; the child `in_child`, which calls `leaf`
 * twice.
 *
 *   cc -g -finstrument-functions -pthread -o fork fork.c
 *
 *   fork return       the child returns from `split` and from main
 *   fork exit         it ends by exit in `in_child`
 *   fork _exit        by _exit
 *   fork kill         by SIGKILL
 *   fork grandchild   it forks again, in a `split` below its `in_child`; the grandchild returns all the way
 *   fork thread       the same as `return`, in a thread other than the first: it is the child's only one */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *how;
static volatile int sum;

static void before(void) {}
static void after(void) {}
static void leaf(void) { sum++; }
static void split(int depth);

static void in_child(int depth)
{
    leaf();
    leaf();
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "_exit")) _exit(3);
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "grandchild") && depth == 0) split(1);
}

static void split(int depth)
{
    before();
    pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        in_child(depth);
        return;
    }
    int status;
    waitpid(child, &status, 0);
    after();
}

static void *run(void *unused)
{
    split(0);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    how = argv[1];
    if (!strcmp(how, "thread")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, NULL)) abort();
        pthread_join(thread, NULL);
    } else {
        split(0);
    }
    return 0;
}
