// Walks through call paths whose calls are as unevenly spread as those of real programs: from each function seven in eight calls go
// the same way, and one in 64 the fourth. So some paths have most of the calls, and new ones come as long as it runs.
//   paths CALLS          makes so many calls, or a few more
//   paths CALLS LOG      with -DCOUNTED: the same, and writes what it has counted to LOG:
//                        calls and paths, then each path with at least one in 100,000 of the calls: its calls and its functions
// With -DCOUNTED, `paths -PATHS LOG` goes on until it has met so many paths.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline)) static void
#define UNINSTRUMENTED __attribute__((no_instrument_function))
#define DEPTH 24

static uint64_t state = 88172645463325252, calls;
static volatile unsigned sum;

UNINSTRUMENTED static inline unsigned chance(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 40);
}

#ifdef COUNTED
// A path: what it is below, the function, and how often it was called. By number, and in a hash table of numbers.
static struct path { uint32_t above, function; uint64_t calls; } *paths;
static uint32_t *table, mask = (1 << 16) - 1, last = 1, here[DEPTH + 2] = {1}, depth;

UNINSTRUMENTED static uint32_t *place(uint32_t above, uint32_t function) {
    uint64_t hash = (above * 0x9e3779b97f4a7c15u ^ function) * 0xff51afd7ed558ccdu;
    uint32_t at = (uint32_t)(hash >> 32) & mask;
    while (table[at] && (paths[table[at]].above != above || paths[table[at]].function != function)) at = (at + 1) & mask;
    return &table[at];
}

UNINSTRUMENTED static void make_room(void) {
    if (table && last < mask / 2) return;
    free(table);
    mask = mask * 2 + 1;
    table = calloc((size_t)mask + 1, sizeof *table);
    paths = realloc(paths, ((size_t)mask / 2 + 2) * sizeof *paths);
    if (!table || !paths) exit(3);
    for (uint32_t path = 2; path <= last; path++) *place(paths[path].above, paths[path].function) = path;
}

UNINSTRUMENTED static void count(uint32_t function) {
    make_room();
    uint32_t above = here[depth], *at = place(above, function);
    if (!*at) {
        *at = ++last;
        paths[last] = (struct path){above, function, 0};
    }
    paths[*at].calls++;
    here[++depth] = *at;
}

UNINSTRUMENTED static void write_functions(FILE *log, uint32_t path) {
    if (paths[path].above != 1) {
        write_functions(log, paths[path].above);
        fputc(';', log);
    }
    fprintf(log, "f%u_%u", paths[path].function / 4, paths[path].function % 4);
}

UNINSTRUMENTED static int write_log(const char *name) {
    FILE *log = fopen(name, "w");
    if (!log) return 1;
    fprintf(log, "%llu\t%u\n", (unsigned long long)calls, last - 1);
    for (uint32_t path = 2; path <= last; path++)
        if (paths[path].calls * 100000 >= calls) {
            fprintf(log, "%llu\t", (unsigned long long)paths[path].calls);
            write_functions(log, path);
            fputc('\n', log);
        }
    return fclose(log) != 0;
}
#define BEGIN(function) count(function)
#define END depth--
#else
#define BEGIN(function)
#define END
#endif

// One call below, or sometimes two, or none: a walk makes some thirty calls.
#define BODY(level, number, below)                                                                                     \
    APART f##level##_##number(void) {                                                                                  \
        BEGIN(level * 4 + number);                                                                                     \
        calls++;                                                                                                       \
        unsigned r = chance();                                                                                         \
        for (int left = r % 16 == 0 ? 0 : r % 16 < 4 ? 2 : 1; left; left--) {                                          \
            unsigned way = (r >>= 4) % 64;                                                                             \
            if (way < 56) below##_0();                                                                                 \
            else if (way < 61) below##_1();                                                                            \
            else if (way < 63) below##_2();                                                                            \
            else below##_3();                                                                                          \
        }                                                                                                              \
        END;                                                                                                           \
    }
#define LEVEL(level, below) BODY(level, 0, below) BODY(level, 1, below) BODY(level, 2, below) BODY(level, 3, below)
#define LEAF(number) APART f23_##number(void) { BEGIN(23 * 4 + number); calls++; sum += number; END; }

LEAF(0) LEAF(1) LEAF(2) LEAF(3)
LEVEL(22, f23) LEVEL(21, f22) LEVEL(20, f21) LEVEL(19, f20) LEVEL(18, f19) LEVEL(17, f18) LEVEL(16, f17) LEVEL(15, f16)
LEVEL(14, f15) LEVEL(13, f14) LEVEL(12, f13) LEVEL(11, f12) LEVEL(10, f11) LEVEL(9, f10) LEVEL(8, f9) LEVEL(7, f8)
LEVEL(6, f7) LEVEL(5, f6) LEVEL(4, f5) LEVEL(3, f4) LEVEL(2, f3) LEVEL(1, f2) LEVEL(0, f1)

int main(int argc, char **argv) {
    long long most = argc > 1 ? atoll(argv[1]) : 1000000;
#ifdef COUNTED
    while (most < 0 ? last <= -most : calls < (uint64_t)most) f0_0();
    return argc > 2 && write_log(argv[2]);
#else
    while (calls < (uint64_t)most) f0_0();
    return 0;
#endif
}
