// Calling context trees as they are published, with the floor's two readings of the clock: to stand beside what a recording costs, takes
// and keeps. Of programs of one thread.
//   cc -O2 -shared -fPIC contexts.c -o libcontexts.so
//   CONTEXTS_COUNTED=N  At most N contexts are counted, and their ancestors kept: the hot contexts of D'Elia, Demetrescu and Finocchi
//                       (Mining hot calling contexts in small space, PLDI 2011), by lazy space saving. Default: all are, as Ammons,
//                       Ball and Larus have them (Exploiting hardware performance counters, PLDI 1997).
//   CONTEXTS_LOG=FILE   Those with at least one in 100,000 of the calls, and those above them, as `diytrace tree --format csv` tells
//                       of paths; functions by their addresses in the program's file.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HOOK __attribute__((visibility("default")))
#define MOST_NODES (1u << 27) // of memory that is only asked for where it is touched
#define MOST_OPEN 4096

// Children are a list, of which the one that was called last is the first.
struct node {
    uint32_t parent, child, sibling, counted; // counted: its place in `places`; 0: it is not
    uint64_t function, calls, ticks;
};

static struct node *nodes;
static uint32_t last = 1, freed, *places, places_used, most_places, cursor = 1;
static uint64_t least = 1;
static struct { uint32_t node; uint64_t began; } open_calls[MOST_OPEN] = {{1, 0}};
static uint32_t depth, is_open_too_deep;

static inline uint64_t ticks(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static uint32_t new_node(uint32_t parent, uint64_t function) {
    uint32_t node = freed;
    if (node) freed = nodes[node].sibling;
    else if (last + 1 < MOST_NODES) node = ++last;
    else abort();
    nodes[node] = (struct node){parent, 0, nodes[parent].child, 0, function, 0, 0};
    nodes[parent].child = node;
    return node;
}

static inline uint32_t child_of(uint32_t parent, uint64_t function) {
    uint32_t first = nodes[parent].child, before = 0;
    for (uint32_t node = first; node; before = node, node = nodes[node].sibling)
        if (nodes[node].function == function) {
            if (before) {
                nodes[before].sibling = nodes[node].sibling;
                nodes[node].sibling = first;
                nodes[parent].child = node;
            }
            return node;
        }
    return new_node(parent, function);
}

static int is_open(uint32_t node) {
    for (uint32_t at = 0; at <= depth; at++)
        if (open_calls[at].node == node) return 1;
    return 0;
}

// A context that is not counted goes, unless a call of it is open or contexts below it are there; then perhaps the one above it.
static void prune(uint32_t node) {
    while (node != 1 && !nodes[node].child && !nodes[node].counted && !is_open(node)) {
        uint32_t parent = nodes[node].parent, *link = &nodes[parent].child;
        while (*link != node) link = &nodes[*link].sibling;
        *link = nodes[node].sibling;
        nodes[node].sibling = freed;
        freed = node;
        node = parent;
    }
}

// One of those with the fewest calls.
static uint32_t place_of_least(void) {
    for (;;) {
        for (; cursor <= places_used; cursor++)
            if (nodes[places[cursor]].calls == least) return cursor;
        least = UINT64_MAX;
        for (cursor = places_used; cursor; cursor--)
            if (nodes[places[cursor]].calls < least) least = nodes[places[cursor]].calls;
        cursor = 1;
    }
}

static void count(uint32_t node) {
    uint32_t place;
    if (!most_places || nodes[node].counted) {
        nodes[node].calls++;
        return;
    }
    if (places_used < most_places) {
        place = ++places_used;
        nodes[node].calls = 1;
    } else {
        uint32_t gone = places[place = place_of_least()];
        nodes[node].calls = nodes[gone].calls + 1;
        nodes[gone].counted = 0;
        prune(gone);
    }
    places[place] = node;
    nodes[node].counted = place;
}

HOOK void __cyg_profile_func_enter(void *function, void *site) {
    (void)site;
    if (!nodes || depth + 1 >= MOST_OPEN) {
        is_open_too_deep++;
        return;
    }
    uint32_t node = child_of(open_calls[depth].node, (uint64_t)function);
    open_calls[++depth].node = node;
    count(node);
    open_calls[depth].began = ticks();
}

HOOK void __cyg_profile_func_exit(void *function, void *site) {
    (void)function, (void)site;
    if (is_open_too_deep) {
        is_open_too_deep--;
        return;
    }
    nodes[open_calls[depth].node].ticks += ticks() - open_calls[depth].began;
    depth--;
}

static void *memory(size_t size) {
    void *start = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) abort();
    return start;
}

__attribute__((constructor)) static void begin(void) {
    const char *most = getenv("CONTEXTS_COUNTED");
    most_places = most ? (uint32_t)atol(most) : 0;
    places = memory(((size_t)most_places + 1) * sizeof *places);
    nodes = memory((size_t)MOST_NODES * sizeof *nodes);
}

static int program(struct dl_phdr_info *info, size_t size, void *base) {
    (void)size;
    *(uint64_t *)base = info->dlpi_addr;
    return 1; // the first is the program
}

// Each behind the one above it.
static void write_below(FILE *log, const char *is_told, uint64_t base, uint32_t above) {
    for (uint32_t node = nodes[above].child; node; node = nodes[node].sibling) {
        if (!is_told[node]) continue;
        fprintf(log, "%u,", node);
        if (above > 1) fprintf(log, "%u", above);
        fprintf(log, ",%llx,%llu\n", (unsigned long long)(nodes[node].function - base),
                (unsigned long long)(!most_places || nodes[node].counted ? nodes[node].calls : 0));
        write_below(log, is_told, base, node);
    }
}

__attribute__((destructor)) static void write_log(void) {
    const char *name = getenv("CONTEXTS_LOG");
    // Of who has started the program, and has no hooks, there is nothing to write.
    FILE *log = name && last > 1 ? fopen(name, "w") : 0;
    if (!log) return;
    uint64_t base = 0, calls = 0;
    dl_iterate_phdr(program, &base);
    // Evicted counts live on in those that came after them: of space saving the sum is that of all calls.
    for (uint32_t node = 2; node <= last; node++)
        if (!most_places || nodes[node].counted) calls += nodes[node].calls;
    char *is_told = memory((size_t)last + 1);
    for (uint32_t node = 2; node <= last; node++)
        if ((!most_places || nodes[node].counted) && nodes[node].calls * 100000 >= calls)
            for (uint32_t above = node; above > 1 && !is_told[above]; above = nodes[above].parent) is_told[above] = 1;
    fprintf(log, "node,parent,address,calls\n");
    write_below(log, is_told, base, 1);
    fclose(log);
}
