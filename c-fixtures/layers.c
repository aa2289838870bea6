/* More call paths than there is room for: each function of a layer calls one of the next layer, or two after each other, each from
 * one of two places, so that there are 8^9 paths with two calls each at most. Every hundredth time all goes the same way. Counts
 * calls by caller and callee for itself, in FILE if one is given, where they are when it is killed.
 *
 *   cc -g -finstrument-functions -o layers layers.c
 *
 * With CHILDREN, as many processes do so, one after the other, and are killed by themselves.
 *
 *   layers TIMES [FILE [CHILDREN]] */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNINSTRUMENTED __attribute__((no_instrument_function))
#define APART static __attribute__((noinline)) void

/* By the layer of the caller, its number, and that of the callee. The last is for what main calls. */
static uint64_t own[10][4][4], (*edges)[4][4] = own;
static uint64_t seed = 88172645463325252;
static volatile unsigned sum;
static int is_hot;

UNINSTRUMENTED static unsigned random_below(unsigned end)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (seed >> 32) % end;
}

#define CALL(below, way)                                                                                               \
    case way:                                                                                                          \
        below##_##way();                                                                                               \
        break;                                                                                                         \
    case way + 4:                                                                                                      \
        below##_##way();                                                                                               \
        break;

#define FUNCTION(layer, number, below)                                                                                 \
    APART f##layer##_##number(void)                                                                                    \
    {                                                                                                                  \
        for (unsigned left = is_hot ? 1 : 1 + random_below(2); left; left--) {                                         \
            unsigned way = is_hot ? (number + layer) % 4 : random_below(8);                                            \
            edges[layer][number][way % 4]++;                                                                           \
            switch (way) {                                                                                             \
                CALL(below, 0) CALL(below, 1) CALL(below, 2) CALL(below, 3)                                            \
            }                                                                                                          \
        }                                                                                                              \
    }
#define LAYER(layer, below)                                                                                            \
    FUNCTION(layer, 0, below) FUNCTION(layer, 1, below) FUNCTION(layer, 2, below) FUNCTION(layer, 3, below)

APART f9_0(void) { sum += 1; }
APART f9_1(void) { sum += 2; }
APART f9_2(void) { sum += 3; }
APART f9_3(void) { sum += 4; }
LAYER(8, f9) LAYER(7, f8) LAYER(6, f7) LAYER(5, f6) LAYER(4, f5) LAYER(3, f4) LAYER(2, f3) LAYER(1, f2) FUNCTION(0, 0, f1)

UNINSTRUMENTED static void run(long times)
{
    for (long i = 0; i < times; i++) {
        is_hot = i % 100 == 0;
        edges[9][0][0]++;
        f0_0();
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    if (argc > 2) {
        int file = open(argv[2], O_RDWR | O_CREAT, 0600);
        if (file < 0 || ftruncate(file, sizeof own)) return 2;
        edges = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (edges == MAP_FAILED) return 2;
    }
    int children = argc > 3 ? atoi(argv[3]) : 0;
    for (int child = 0; child < children; child++) {
        if (!fork()) {
            seed += child;
            run(atol(argv[1]));
            kill(getpid(), SIGKILL);
        }
        wait(NULL);
    }
    if (!children) run(atol(argv[1]));
    for (int layer = 0; layer < 10; layer++)
        for (int caller = 0; caller < 4; caller++)
            for (int callee = 0; callee < 4; callee++)
                if (edges[layer][caller][callee])
                    printf("%d %d %d %llu\n", layer, caller, callee, (unsigned long long)edges[layer][caller][callee]);
    return 0;
}
