/* Ways to make a process, and what children do. Every child calls `child`, which calls `leaf` twice; the parent calls
 * `leaf` once when all have ended.
 *
 *   cc -g -finstrument-functions -pthread -o processes processes.c
 *
 *   processes chain N       each child forks the next, N deep, and waits for it
 *   processes tree N        each process forks two, N deep: 2^(N+1) - 2 children
 *   processes crowd N       N children that all run at once: none ends before the last has begun
 *   processes threads N     N threads fork at once, while another records all the time
 *   processes bare          _Fork
 *   processes clone         clone as fork does it, without libc
 *   processes shared        clone with the parent's memory but not its thread-local storage, at the same time
 *   processes spawn         posix_spawn of the program itself
 *   processes failed        exec of what is not there, in a child of fork and of vfork; it returns, and `child` is called
 *   processes returned      exec of what is not there, which returns; then `child` is called, and the process is killed
 *   processes orphan        the child outlives its parent
 *   processes daemon        the child becomes a daemon by libc's own function, whose _exit nobody can see
 *   processes late-daemon   the same, and what becomes one has called `leaf` before
 *   processes emptied       the child executes the program itself with an empty environment: nothing is preloaded there
 *   processes threads-exec  a thread executes the program itself while others record: they end */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

extern char **environ;
static volatile int sum, is_over;

APART static void leaf(void) { sum++; }

APART static void child(void)
{
    leaf();
    leaf();
}

UNSEEN static void wait_for_all(void)
{
    int status;
    while (wait(&status) > 0)
        if (status) _exit(2);
}

UNSEEN static void chain(int n)
{
    if (!n) return;
    if (fork() == 0) {
        child();
        chain(n - 1);
        exit(0);
    }
    wait_for_all();
}

UNSEEN static void tree(int n)
{
    for (int i = 0; n && i < 2; i++)
        if (fork() == 0) {
            child();
            tree(n - 1);
            exit(0);
        }
    wait_for_all();
}

UNSEEN static void crowd(int n)
{
    int ends[2];
    char byte;
    if (pipe(ends)) exit(2);
    for (int i = 0; i < n; i++)
        if (fork() == 0) {
            child();
            close(ends[1]);
            _exit(read(ends[0], &byte, 1) == 0 ? 0 : 2);
        }
    close(ends[1]);
    wait_for_all();
}

UNSEEN static void *fork_one(void *unused)
{
    pid_t pid = fork();
    if (pid == 0) {
        child();
        _exit(0);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid || status) _exit(2);
    return unused;
}

UNSEEN static void *record(void *unused)
{
    while (!is_over) leaf();
    return unused;
}

UNSEEN static void threads(int n)
{
    pthread_t forking[n], recording;
    pthread_create(&recording, NULL, record, NULL);
    for (int i = 0; i < n; i++) pthread_create(&forking[i], NULL, fork_one, NULL);
    for (int i = 0; i < n; i++) pthread_join(forking[i], NULL);
    is_over = 1;
    pthread_join(recording, NULL);
}

UNSEEN static int run_child(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100000; i++) child();
    syscall(SYS_exit, 0);
    return 0;
}

UNSEEN static void shared(void)
{
    static char stack[2][1 << 16];
    for (int i = 0; i < 2; i++)
        if (clone(run_child, stack[i] + sizeof stack[i], CLONE_VM | SIGCHLD, NULL) < 0) exit(2);
    for (int i = 0; i < 100000; i++) child();
    wait_for_all();
}

UNSEEN static void failed(void)
{
    char *arguments[] = {"nothing", NULL};
    if (fork() == 0) {
        execv("/no/such/program", arguments);
        child();
        exit(0);
    }
    wait_for_all();
    if (vfork() == 0) {
        execv("/no/such/program", arguments);
        child();
        _exit(0);
    }
    wait_for_all();
}

UNSEEN static void returned(void)
{
    if (fork() == 0) {
        execlp("no-such-program", "nothing", (char *)NULL);
        child();
        raise(SIGKILL);
    }
    int status;
    wait(&status);
}

UNSEEN static void orphan(void)
{
    int ends[2];
    char byte;
    if (pipe(ends)) exit(2);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        if (fork() == 0) {
            close(ends[1]);
            if (read(ends[0], &byte, 1)) _exit(2); /* until the parent has ended */
            child();
            _exit(0);
        }
        _exit(0);
    }
    close(ends[0]);
    int status;
    wait(&status);
    close(ends[1]);
    wait_for_all();
}

UNSEEN static void become_daemon(int is_recorded)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        if (is_recorded) leaf();
        if (daemon(0, 0)) _exit(2);
        child();
        _exit(0);
    }
}

UNSEEN static void *execute(void *unused)
{
    for (int i = 0; i < 1000; i++) leaf();
    execl("/proc/self/exe", "processes", "child", (char *)NULL);
    _exit(2);
    return unused;
}

UNSEEN static void threads_exec(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, record, NULL);
    pthread_create(&thread, NULL, execute, NULL);
    for (;;) pause();
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    const char *how = argv[1];
    int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (!strcmp(how, "chain")) chain(n);
    if (!strcmp(how, "tree")) tree(n);
    if (!strcmp(how, "crowd")) crowd(n);
    if (!strcmp(how, "threads")) threads(n);
    if (!strcmp(how, "shared")) shared();
    if (!strcmp(how, "failed")) failed();
    if (!strcmp(how, "returned")) returned();
    if (!strcmp(how, "orphan")) orphan();
    if (!strcmp(how, "daemon")) become_daemon(0);
    if (!strcmp(how, "late-daemon")) become_daemon(1);
    if (!strcmp(how, "threads-exec")) threads_exec();
    if (!strcmp(how, "emptied") && fork() == 0) {
        child();
        execle("/proc/self/exe", argv[0], "child", (char *)NULL, (char *[]){NULL});
        _exit(2);
    }
    if (!strcmp(how, "bare") && _Fork() == 0) {
        child();
        _exit(0);
    }
    if (!strcmp(how, "clone") && syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
        child();
        _exit(0);
    }
    if (!strcmp(how, "spawn")) {
        char *arguments[] = {argv[0], "child", NULL};
        if (posix_spawn(&(pid_t){0}, "/proc/self/exe", NULL, NULL, arguments, environ)) return 2;
    }
    if (!strcmp(how, "child")) child();
    wait_for_all();
    leaf();
    return 0;
}
