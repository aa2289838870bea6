/* errno is as it was after every hook: the first of the program, of a thread and of a child, those that make new paths,
 * those after longjmp.
 *
 *   cc -g -finstrument-functions -pthread -o errno errno.c
 *
 * It prints nothing but what has changed. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

static jmp_buf back;

static void callee(void) {}
static void jumper(void) { longjmp(back, 1); }

static void deep(int n)
{
    if (n) deep(n - 1);
}

/* Frames that are as large as arrays, so that what longjmp has left is found by searching the stack. */
static void large(void)
{
    char room[3000];
    __asm__ volatile("" : : "r"(room) : "memory");
    callee();
    __asm__ volatile("" : : "r"(room) : "memory");
}

UNSEEN static void call_all(const char *where)
{
    for (volatile int round = 1; round < 4; round++) {
        errno = 1000 + round;
        callee();
        if (errno != 1000 + round) printf("%s: a call set errno to %d\n", where, errno);
        deep(300);
        if (errno != 1000 + round) printf("%s: recursion set errno to %d\n", where, errno);
        if (!setjmp(back)) jumper();
        large();
        if (errno != 1000 + round) printf("%s: longjmp set errno to %d\n", where, errno);
    }
}

UNSEEN static void *thread(void *unused)
{
    call_all("thread");
    return unused;
}

UNSEEN int main(void)
{
    call_all("first thread");
    pthread_t id;
    if (pthread_create(&id, NULL, thread, NULL)) abort();
    pthread_join(id, NULL);
    fflush(stdout);
    pid_t child = fork();
    call_all(child ? "parent" : "child");
    if (child) wait(NULL);
    return 0;
}
