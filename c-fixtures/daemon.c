/* A daemon: it forks twice, begins a session, changes to the root folder, closes every descriptor, and only then makes
 * most of its calls, on 8191 paths (many-paths.h). The program that started it waits for it.
 *
 *   cc -g -finstrument-functions -o daemon daemon.c
 *
 *   daemon            as above
 *   daemon reopen     and it opens other files on the first hundred descriptors that it closed
 *   daemon full       and on all that its limit allows: nobody can open anything any more
 *   daemon user       and, if it may, becomes a user who may not open the profile
 *   daemon limit      and its limit forbids files to grow
 *   daemon here       without forks, in the first process */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "many-paths.h"

static void close_all(const char *how)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    int end = limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int file = 0; file < end; file++) close(file);
    if (!strcmp(how, "reopen"))
        for (int i = 0; i < 100; i++) open("/dev/null", O_RDWR);
    if (!strcmp(how, "full")) {
        limit.rlim_cur = 64;
        setrlimit(RLIMIT_NOFILE, &limit);
        while (open("/dev/null", O_RDWR) >= 0) {}
    }
}

static void be_daemon(const char *how)
{
    setsid();
    if (chdir("/")) exit(2);
    umask(0);
    close_all(how);
    if (!strcmp(how, "user") && geteuid() == 0 && (setgid(65534) || setuid(65534))) exit(2);
    if (!strcmp(how, "limit")) setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
    level_0();
    exit(leaves == 4096 ? 0 : 2);
}

static int wait_for_all(void)
{
    int status, worst = 0;
    while (wait(&status) > 0)
        if (status > worst) worst = status;
    return worst ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "here")) be_daemon(how);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        if (fork() == 0) be_daemon(how);
        _exit(0);
    }
    return wait_for_all();
}
