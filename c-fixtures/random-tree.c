/* A random tree of calls, the same for the same seed: 32 functions that call each other by a table, with frames of many
 * sizes, recursion, longjmp over some of the calls that are open, threads, and forks of children that return all the way
 * or end at once.
 *
 *   cc -g -finstrument-functions -pthread -o random-tree random-tree.c
 *
 *   random-tree calm SEED        nothing jumps
 *   random-tree direct SEED      each function calls others from places of their own
 *   random-tree indirect SEED    all through a pointer, from one place
 *
 * It prints who called whom how often, all processes together: `f3 f14 127`. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))
#define APART __attribute__((noinline)) /* of two bodies inlined into one frame, nobody can tell which longjmp has left */

enum { FUNCTIONS = 32, CHOICES = 4, DEEPEST = 40, THREADS = 3 };

/* What one thread is at. Here, and not in locals, which longjmp may change. */
struct walk {
    uint64_t random;
    int depth, calls_left, forks_left, is_child, targets;
    jmp_buf *target[DEEPEST];
};

#define ALL(X)                                                                                                         \
    X(0, 8) X(1, 16) X(2, 24) X(3, 40) X(4, 64) X(5, 100) X(6, 150) X(7, 200)                                          \
    X(8, 8) X(9, 300) X(10, 16) X(11, 500) X(12, 32) X(13, 800) X(14, 8) X(15, 1000)                                   \
    X(16, 8) X(17, 8) X(18, 2000) X(19, 48) X(20, 56) X(21, 3000) X(22, 72) X(23, 88)                                  \
    X(24, 4000) X(25, 8) X(26, 16) X(27, 5000) X(28, 24) X(29, 120) X(30, 8) X(31, 700)

#define DECLARE(n, size) static void f##n(struct walk *walk);
ALL(DECLARE)

static int share_sites, is_calm;
static void (*functions[FUNCTIONS])(struct walk *);
static unsigned char table[FUNCTIONS][CHOICES]; /* whom each calls */
static unsigned (*counted)[FUNCTIONS][FUNCTIONS]; /* in memory that all processes share */

UNSEEN static uint32_t draw(struct walk *walk, uint32_t below)
{
    walk->random = walk->random * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(walk->random >> 33) % below;
}

/* The child goes on with a walk of its own, a short one; the parent when the child has ended. */
UNSEEN static void fork_here(struct walk *walk)
{
    walk->forks_left = (walk->forks_left - 1) / 2;
    pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        walk->random ^= 0x9e3779b97f4a7c15;
        walk->calls_left = 300;
        walk->is_child = 1;
        return;
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) abort();
}

UNSEEN static void jump(struct walk *walk)
{
    int index = (int)draw(walk, (uint32_t)walk->targets);
    longjmp(*walk->target[index], 1);
}

UNSEEN static void touch(volatile char *room) { room[0] = 1; }

/* Every callee has a call site of its own, or all share one: then the event log, too, may take a function for a body that
 * was inlined into the one that longjmp left. */
#define C(g)                                                                                                           \
    case g:                                                                                                            \
        f##g(walk);                                                                                                    \
        break;
#define CALL(n)                                                                                                        \
    do {                                                                                                               \
        __atomic_fetch_add(&(*counted)[n][whom], 1, __ATOMIC_RELAXED);                                                 \
        if (share_sites) {                                                                                             \
            functions[whom](walk);                                                                                     \
            break;                                                                                                     \
        }                                                                                                              \
        switch (whom) {                                                                                                \
            C(0) C(1) C(2) C(3) C(4) C(5) C(6) C(7) C(8) C(9) C(10) C(11) C(12) C(13) C(14) C(15)                      \
            C(16) C(17) C(18) C(19) C(20) C(21) C(22) C(23) C(24) C(25) C(26) C(27) C(28) C(29) C(30) C(31)            \
        }                                                                                                              \
    } while (0)

/* Each function makes up to three calls by its table, some under a setjmp that calls further below may jump to. */
#define F(n, size)                                                                                                     \
    APART static void f##n(struct walk *walk)                                                                          \
    {                                                                                                                  \
        volatile char room[size];                                                                                      \
        touch(room);                                                                                                   \
        jmp_buf here;                                                                                                  \
        volatile int depth = ++walk->depth, targets = walk->targets, rounds = (int)draw(walk, 4);                      \
        while (rounds-- > 0 && walk->calls_left > 0 && depth < DEEPEST) {                                              \
            uint32_t what = draw(walk, 100), whom = table[n][draw(walk, CHOICES)];                                     \
            walk->calls_left--;                                                                                        \
            if (what < 15 && !is_calm) {                                                                               \
                if (!setjmp(here)) {                                                                                   \
                    walk->target[walk->targets++] = &here;                                                             \
                    CALL(n);                                                                                           \
                }                                                                                                      \
                walk->depth = depth;                                                                                   \
                walk->targets = targets;                                                                               \
            } else if (what < 20 && walk->targets) {                                                                   \
                jump(walk);                                                                                            \
            } else if (what < 21 && walk->forks_left > 0) {                                                            \
                fork_here(walk);                                                                                       \
            } else if (what < 22 && walk->is_child) {                                                                  \
                _exit(0);                                                                                              \
            } else {                                                                                                   \
                CALL(n);                                                                                               \
            }                                                                                                          \
        }                                                                                                              \
        walk->depth = depth - 1;                                                                                       \
        touch(room);                                                                                                   \
    }

ALL(F)

static void *walk_about(void *start)
{
    struct walk *walk = start;
    while (walk->calls_left > 0) {
        walk->depth = walk->targets = 0;
        walk->calls_left--;
        functions[draw(walk, FUNCTIONS)](walk);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    share_sites = !strcmp(argv[1], "indirect");
    is_calm = !strcmp(argv[1], "calm");
#define FILL(n, size) functions[n] = f##n;
    ALL(FILL)

    counted = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counted == MAP_FAILED) abort();
    uint64_t seed = strtoull(argv[2], NULL, 10);
    static const int forks[THREADS + 1] = {12, 0, 0, 2}; /* the first walk is the last thread's, or comes last */
    struct walk walks[THREADS + 1];
    for (int i = 0; i <= THREADS; i++)
        walks[i] = (struct walk){.random = (seed << 8) + (uint64_t)i, .calls_left = 4000, .forks_left = forks[i]};
    for (int f = 0; f < FUNCTIONS; f++) /* some seeds have more recursion than others */
        for (int c = 0; c < CHOICES; c++)
            table[f][c] = (unsigned char)(draw(walks, 10) < seed % 4 ? (uint32_t)f : draw(walks, FUNCTIONS));

    pthread_t threads[THREADS];
    int started = (int)(seed % (THREADS + 1));
    pid_t first = getpid();
    walk_about(&walks[THREADS]);
    for (int i = 0; i < started; i++)
        if (pthread_create(&threads[i], NULL, walk_about, &walks[i + 1 == THREADS ? 0 : i + 1])) abort();
    walks[THREADS].calls_left = 1000;
    walk_about(&walks[THREADS]);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    if (started < THREADS) walk_about(&walks[0]);
    if (getpid() != first) return 0;
    for (int f = 0; f < FUNCTIONS; f++)
        for (int g = 0; g < FUNCTIONS; g++)
            if ((*counted)[f][g]) printf("f%d f%d %u\n", f, g, (*counted)[f][g]);
    return 0;
}
