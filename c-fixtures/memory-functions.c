/* A program with memory functions of its own, instrumented, and exported, so that every library that asks for the usual names
 * is given these.
 *
 *   cc -g -finstrument-functions -fno-builtin -rdynamic -pthread -o memory-functions memory-functions.c
 *
 * Each counts its calls; main prints them. main calls `work`, and so does a thread and a forked child. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long fills, copies, moves, comparisons, lengths;

void *memset(void *to, int value, size_t size)
{
    fills++;
    for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = (char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    copies++;
    for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    moves++;
    volatile char *new = to;
    const char *old = from;
    for (size_t i = 0; i < size; i++) {
        size_t at = new < old ? i : size - 1 - i;
        new[at] = old[at];
    }
    return to;
}

int memcmp(const void *left, const void *right, size_t size)
{
    comparisons++;
    const volatile unsigned char *l = left, *r = right;
    for (size_t i = 0; i < size; i++)
        if (l[i] != r[i]) return l[i] - r[i];
    return 0;
}

int bcmp(const void *left, const void *right, size_t size) { return memcmp(left, right, size); }

size_t strlen(const char *text)
{
    lengths++;
    const volatile char *end = text;
    while (*end) end++;
    return (size_t)(end - text);
}

static int work(void)
{
    char a[300], b[300];
    memset(a, 'a', sizeof a);
    a[299] = 0;
    memcpy(b, a, sizeof b);
    memmove(b + 1, b, 200);
    memmove(b, b + 1, 200);
    return memcmp(a, b, sizeof a) + (strlen(b) == 299);
}

static void *run(void *unused)
{
    work();
    return unused;
}

int main(void)
{
    pthread_t thread;
    int answer = work();
    if (pthread_create(&thread, NULL, run, NULL)) return 2;
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) _exit(work());
    waitpid(child, NULL, 0);
    char text[100];
    int length = snprintf(text, sizeof text, "%d: %lu %lu %lu %lu %lu\n", answer, fills, copies, moves, comparisons, lengths);
    return write(1, text, (size_t)length) != length;
}
