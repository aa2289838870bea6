/* Functions that burn known times, from 20 ns to 1 ms: each spins on the time stamp counter and notes how long it did.
 *
 *   cc -g -finstrument-functions -o spins spins.c
 *
 *   spins [SHARE]      of the usual number of calls; 1 is about a second
 *
 * `loop_N` spins for N ns. `outer_N` spins, calls `middle_N` twice and spins again; `middle_N` spins and calls `inner_N`
 * three times; `inner_N` spins. `down_N` spins and calls itself, ten calls deep.
 *
 * It prints a line for each function: its calls, the sum of their self times, and of the loops the minimum, median, 90th,
 * 99th and 99.9th percentile and maximum, in nanoseconds. What the spin cannot see of its function (the call, its first
 * reading of the counter, the note) is measured on a twin without hooks, and added; the line `around` has it. The line
 * `step` has what two readings are apart: some counters move on by many ticks at a time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))
#define PASTED UNSEEN __attribute__((always_inline)) static inline

struct truth {
    const char *name;
    int spins; /* a call's */
    int is_loop;
    size_t calls, room;
    uint64_t *times; /* each call's, in ticks */
};

PASTED uint64_t spin(uint64_t ticks)
{
    uint64_t start = __rdtsc(), now;
    do
        now = __rdtsc();
    while (now - start < ticks);
    return now - start;
}

PASTED void note(struct truth *truth, uint64_t ticks) { truth->times[truth->calls++] = ticks; }

static double hz;
static int depth = 10;

#define LOOPS(X) X(20) X(50) X(100) X(200) X(500) X(1000) X(10000) X(100000) X(1000000)
#define NESTS(X) X(50) X(200) X(1000) X(10000)

#define LOOP(n)                                                                                                        \
    static uint64_t ticks_##n;                                                                                         \
    static struct truth loop_of_##n = {"loop_" #n, 1, 1, 0, 0, NULL};                                                  \
    APART static void loop_##n(void) { note(&loop_of_##n, spin(ticks_##n)); }
LOOPS(LOOP)

#define NEST(n)                                                                                                        \
    static struct truth outer_of_##n = {"outer_" #n, 2, 0, 0, 0, NULL}, middle_of_##n = {"middle_" #n, 1, 0, 0, 0, NULL}; \
    static struct truth inner_of_##n = {"inner_" #n, 1, 0, 0, 0, NULL}, down_of_##n = {"down_" #n, 1, 0, 0, 0, NULL};   \
    APART static void inner_##n(void) { note(&inner_of_##n, spin(ticks_##n)); }                                        \
    APART static void middle_##n(void)                                                                                 \
    {                                                                                                                  \
        uint64_t spun = spin(ticks_##n);                                                                               \
        for (int i = 0; i < 3; i++) inner_##n();                                                                       \
        note(&middle_of_##n, spun);                                                                                    \
    }                                                                                                                  \
    APART static void outer_##n(void)                                                                                  \
    {                                                                                                                  \
        uint64_t spun = spin(ticks_##n);                                                                               \
        middle_##n();                                                                                                  \
        middle_##n();                                                                                                  \
        note(&outer_of_##n, spun + spin(ticks_##n));                                                                   \
    }                                                                                                                  \
    APART static void down_##n(int below)                                                                              \
    {                                                                                                                  \
        uint64_t spun = spin(ticks_##n);                                                                               \
        if (below > 1) down_##n(below - 1);                                                                            \
        note(&down_of_##n, spun);                                                                                      \
    }
NESTS(NEST)

static struct truth twin_of_200 = {"twin", 1, 0, 0, 0, NULL};
UNSEEN APART static void twin_200(void) { note(&twin_of_200, spin(ticks_200)); }

UNSEEN static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

UNSEEN static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

UNSEEN static void make_room(struct truth *truth, size_t calls)
{
    truth->times = malloc((truth->room = calls) * sizeof *truth->times);
    if (!truth->times) abort();
    memset(truth->times, 1, calls * sizeof *truth->times); /* no page is missing later */
}

/* What a call takes beside its spin, in nanoseconds: the median of batches, as few are interrupted. */
UNSEEN static double measure_around(void)
{
    enum { BATCHES = 201, CALLS = 100 };
    static double found[BATCHES];
    make_room(&twin_of_200, BATCHES * CALLS);
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t spun = 0, start = __rdtsc();
        for (int i = 0; i < CALLS; i++) twin_200();
        uint64_t all = __rdtsc() - start;
        for (size_t i = twin_of_200.calls - CALLS; i < twin_of_200.calls; i++) spun += twin_of_200.times[i];
        found[batch] = (double)(all - spun) / CALLS / hz * 1e9;
    }
    qsort(found, BATCHES, sizeof *found, by_time);
    return found[BATCHES / 2];
}

/* What two readings of the counter are apart, in nanoseconds, as a rule: nothing shorter can be told. */
UNSEEN static double measure_step(void)
{
    enum { READINGS = 1001 };
    static double apart[READINGS];
    uint64_t before = __rdtsc();
    for (int i = 0; i < READINGS; i++) {
        uint64_t now = __rdtsc();
        apart[i] = (double)(now - before) / hz * 1e9;
        before = now;
    }
    qsort(apart, READINGS, sizeof *apart, by_time);
    return apart[READINGS / 2];
}

UNSEEN static void print(struct truth *truth, double around)
{
    if (truth->calls != truth->room) abort();
    double sum = 0, *times = malloc(truth->calls * sizeof *times);
    if (!times) abort();
    for (size_t i = 0; i < truth->calls; i++)
        sum += times[i] = (double)truth->times[i] / hz * 1e9 + around * truth->spins;
    printf("%s\t%zu\t%.1f", truth->name, truth->calls, sum);
    if (truth->is_loop) {
        qsort(times, truth->calls, sizeof *times, by_time);
        static const double shares[] = {0, 0.5, 0.9, 0.99, 0.999, 1};
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            size_t rank = (size_t)(shares[i] * (double)truth->calls + 0.999999);
            printf("\t%.1f", times[rank ? rank - 1 : 0]);
        }
    }
    printf("\n");
    free(times);
}

/* How many calls are made of a function that takes so long in all: some 20 ms of them. */
UNSEEN static size_t calls_for(double ns, double share)
{
    double calls = 2e7 * share / (ns + 50);
    return calls < 20 ? 20 : (size_t)calls;
}

int main(int argc, char **argv)
{
    double share = argc > 1 ? strtod(argv[1], NULL) : 1;
    double start_ns = now_ns();
    uint64_t start = __rdtsc();
    while (now_ns() < start_ns + 5e7) continue;
    hz = (double)(__rdtsc() - start) / (now_ns() - start_ns) * 1e9;

#define PREPARE_LOOP(n)                                                                                                \
    ticks_##n = (uint64_t)(n * hz / 1e9 + 0.5);                                                                        \
    make_room(&loop_of_##n, calls_for(n, share));
    LOOPS(PREPARE_LOOP)
#define PREPARE_NEST(n)                                                                                                \
    size_t nests_##n = calls_for(10.0 * n, share);                                                                     \
    make_room(&outer_of_##n, nests_##n);                                                                               \
    make_room(&middle_of_##n, nests_##n * 2);                                                                          \
    make_room(&inner_of_##n, nests_##n * 6);                                                                           \
    make_room(&down_of_##n, nests_##n * (size_t)depth);
    NESTS(PREPARE_NEST)

    double around = measure_around();
#define RUN_LOOP(n)                                                                                                    \
    for (size_t i = 0; i < loop_of_##n.room; i++) loop_##n();
    LOOPS(RUN_LOOP)
#define RUN_NEST(n)                                                                                                    \
    for (size_t i = 0; i < nests_##n; i++) outer_##n();                                                                \
    for (size_t i = 0; i < nests_##n; i++) down_##n(depth);
    NESTS(RUN_NEST)

    /* Over the whole run the rate is known best. */
    hz = (double)(__rdtsc() - start) / (now_ns() - start_ns) * 1e9;
    printf("around\t%.2f\nstep\t%.2f\n", around, measure_step());
#define PRINT_LOOP(n) print(&loop_of_##n, around);
    LOOPS(PRINT_LOOP)
#define PRINT_NEST(n)                                                                                                  \
    print(&outer_of_##n, around);                                                                                      \
    print(&middle_of_##n, around);                                                                                     \
    print(&inner_of_##n, around);                                                                                      \
    print(&down_of_##n, around);
    NESTS(PRINT_NEST)
    return 0;
}
