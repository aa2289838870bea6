/* A program that limits its own address space to a hundred megabytes, as vsftpd does, and says what it finds: its limits, and
 * whether it can have fifty megabytes and two hundred. It calls `step` 1,000 times after that, a thread calls it as often,
 * and so does a child that it forks. Then it executes itself, to say the same of what that has inherited.
 *
 *   cc -g -finstrument-functions -o limits-itself limits-itself.c -pthread
 *
 *   limits-itself         by setrlimit
 *   limits-itself both    by prlimit
 *   limits-itself low     by setrlimit, twice, where its hard limit leaves the recorder little */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static void step(void) { sum++; }

static void *steps(void *nothing)
{
    for (int i = 0; i < 1000; i++) step();
    return nothing;
}

static void can_have(size_t megabytes)
{
    void *memory = mmap(NULL, megabytes << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%zu MB: %s\n", megabytes, memory == MAP_FAILED ? strerror(errno) : "yes");
    if (memory != MAP_FAILED) munmap(memory, megabytes << 20);
}

static void say(const char *who)
{
    struct rlimit limit, again;
    getrlimit(RLIMIT_AS, &limit);
    prlimit(0, RLIMIT_AS, NULL, &again);
    printf("%s: %ld %ld, %ld %ld\n", who, (long)limit.rlim_cur, (long)limit.rlim_max, (long)again.rlim_cur, (long)again.rlim_max);
    can_have(50);
    can_have(200);
}

int main(int argc, char **argv)
{
    struct rlimit limit = {100 << 20, RLIM_INFINITY}, before;
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t thread;
    setbuf(stdout, NULL);
    if (!strcmp(how, "executed")) {
        say(how);
        return 0;
    }
    if (!strcmp(how, "low")) {
        limit.rlim_max = 2000 << 20;
        printf("%d\n", setrlimit(RLIMIT_AS, &limit));
        limit.rlim_max = 100 << 20;
    }
    if (!strcmp(how, "both")) {
        printf("%d", prlimit(0, RLIMIT_AS, &limit, &before));
        printf(" %d %d\n", before.rlim_cur == RLIM_INFINITY, before.rlim_max == RLIM_INFINITY);
    } else {
        printf("%d\n", setrlimit(RLIMIT_AS, &limit));
    }
    say("itself");
    errno = 0;
    printf("%d", setrlimit(RLIMIT_AS, &(struct rlimit){2, 1}));
    printf(" %s\n", strerror(errno));
    steps(NULL);
    if (pthread_create(&thread, NULL, steps, NULL)) exit(3);
    pthread_join(thread, NULL);
    if (!fork()) {
        steps(NULL);
        say("child");
        return 0;
    }
    wait(NULL);
    execl(argv[0], argv[0], "executed", (char *)NULL);
    return 4;
}
