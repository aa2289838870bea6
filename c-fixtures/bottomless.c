/* A recursion as deep as is asked for, in a thread with a stack of two gigabytes: `down` calls itself, and the innermost
 * calls `leaf`.
 *
 *   cc -g -finstrument-functions -pthread -o bottomless bottomless.c
 *
 *   bottomless N     N calls of `down` */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static int depth;
static volatile int sum;

APART static void leaf(void) { sum++; }

APART static void down(int n)
{
    if (n > 1) down(n - 1);
    else leaf();
    sum++;
}

UNSEEN static void *run(void *unused)
{
    down(depth);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    depth = (int)strtol(argv[1], NULL, 10);
    size_t size = (size_t)2 << 30;
    void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) return 2;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, size);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, run, NULL)) return 2;
    pthread_join(thread, NULL);
    printf("%d\n", sum);
    return 0;
}
