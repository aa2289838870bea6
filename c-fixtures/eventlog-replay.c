/* Reads the logs that eventlog.c wrote (its head draws their bytes) and counts what was called, and from where.
 *
 *   gcc -O2 -Wall -Wextra -o eventlog-replay eventlog-replay.c
 *   eventlog-replay FOLDER
 *
 *   module <tab> pid <tab> base         <tab> path             as mapped at the first event; may repeat
 *   func   <tab> pid <tab> function     <tab> calls
 *   edge   <tab> pid <tab> caller or 0  <tab> function <tab> calls
 *
 * Addresses are hexadecimal and the program's own. A caller is the innermost open call of the same thread; a forked
 * child begins inside the calls its parent had open. Which calls are gone is told by positions, not by the order:
 *   - A return address at p proves every call gone whose own lies below. At p itself is the same physical frame, whose
 *     inlined bodies nest, unless the call site is another one or the same hook already stands there: then it is gone.
 *   - An exit with its stack pointer at s belongs to the innermost call whose return address lies at or above s.
 *   - Code on another stack than the thread's (a signal's, a coroutine's) proves nothing about the thread's calls.
 * What stays unknowable: that an inlined body was left by longjmp for another inlined body of the same frame. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADDRESS ((1ull << 48) - 1)
#define NEAR (64u << 10) /* on another stack, a caller is no further away than this */

struct record { uint64_t function, position; };
struct header { uint64_t magic, pid, tid, ppid, kind, from_pid, from_tid, from_n, from_index, thread_pointer; };
enum kind { FRESH, CONTINUED, CHILD };

struct frame { uint64_t function, position, call_site, hook_site; };
struct frames { struct frame *at; size_t count, room; };
struct state { struct frames own, other; uint64_t low, high; /* the thread's stack */ };
struct log { uint64_t pid, tid, n; struct header header; struct state state; char name[64]; };

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/* ---- counting: one table, by process, caller and function -------------------------------------------------------- */

static struct edge { uint64_t pid, caller, function, calls; } *edges;
static size_t edge_count, edge_room;

static struct edge *find_edge(uint64_t pid, uint64_t caller, uint64_t function)
{
    uint64_t hash = ((pid * 31 + caller * 0x9e3779b97f4a7c15) ^ function) * 0xff51afd7ed558ccd;
    size_t i = (hash ^ hash >> 32) & (edge_room - 1);
    while (edges[i].calls && (edges[i].function != function || edges[i].caller != caller || edges[i].pid != pid))
        i = (i + 1) & (edge_room - 1);
    return &edges[i];
}

static void count_call(uint64_t pid, uint64_t caller, uint64_t function)
{
    if (2 * edge_count >= edge_room) {
        struct edge *old = edges;
        size_t old_room = edge_room;
        edge_room = old_room ? 2 * old_room : 4096;
        if (!(edges = calloc(edge_room, sizeof *edges))) die("memory");
        for (size_t i = 0; i < old_room; i++)
            if (old[i].calls) *find_edge(old[i].pid, old[i].caller, old[i].function) = old[i];
        free(old);
    }
    struct edge *edge = find_edge(pid, caller, function);
    if (!edge->calls) *edge = (struct edge){pid, caller, function, 0}, edge_count++;
    edge->calls++;
}

static int compare_edges(const void *left, const void *right)
{
    const uint64_t *l = left, *r = right; /* pid, function, caller */
    static const int order[] = {0, 2, 1};
    for (int i = 0; i < 3; i++)
        if (l[order[i]] != r[order[i]]) return l[order[i]] < r[order[i]] ? -1 : 1;
    return 0;
}

static void print_counts(void)
{
    size_t used = 0;
    for (size_t i = 0; i < edge_room; i++)
        if (edges[i].calls) edges[used++] = edges[i];
    qsort(edges, used, sizeof *edges, compare_edges);
    for (size_t i = 0, j; i < used; i = j) {
        uint64_t calls = 0;
        for (j = i; j < used && edges[j].pid == edges[i].pid && edges[j].function == edges[i].function; j++)
            calls += edges[j].calls;
        printf("func\t%" PRIu64 "\t%" PRIx64 "\t%" PRIu64 "\n", edges[i].pid, edges[i].function, calls);
    }
    for (size_t i = 0; i < used; i++)
        printf("edge\t%" PRIu64 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIu64 "\n", edges[i].pid, edges[i].caller,
               edges[i].function, edges[i].calls);
}

/* ---- the calls that are open ------------------------------------------------------------------------------------- */

static void push(struct frames *frames, struct frame frame)
{
    if (frames->count == frames->room) {
        frames->room = frames->room ? 2 * frames->room : 64;
        if (!(frames->at = realloc(frames->at, frames->room * sizeof frame))) die("memory");
    }
    frames->at[frames->count++] = frame;
}

static int is_own(const struct state *state, uint64_t position) { return state->low <= position && position < state->high; }

/* The number of frames that are left when those which `frame` proves gone are dropped. */
static size_t count_kept(const struct frames *frames, const struct frame *frame)
{
    size_t kept = frames->count;
    while (kept && frames->at[kept - 1].position < frame->position) kept--;
    for (size_t i = kept; i && frames->at[i - 1].position == frame->position; i--) {
        const struct frame *it = &frames->at[i - 1];
        if (it->call_site != frame->call_site || (it->function == frame->function && it->hook_site == frame->hook_site))
            kept = i - 1;
    }
    return kept;
}

static void enter(struct state *state, uint64_t pid, struct frame frame)
{
    struct frames *own = &state->own, *other = &state->other;
    uint64_t caller = own->count ? own->at[own->count - 1].function : 0;
    if (is_own(state, frame.position)) {
        own->count = count_kept(own, &frame);
        caller = own->count ? own->at[own->count - 1].function : 0;
        push(own, frame);
    } else {
        for (size_t i = other->count; i--;) /* the same hook at the same place: that call was left without an exit */
            if (other->at[i].position == frame.position && other->at[i].hook_site == frame.hook_site &&
                other->at[i].function == frame.function) other->count = i;
        for (size_t i = 0; i < other->count; i++)
            if (other->at[i].position - frame.position < NEAR) caller = other->at[i].function;
        push(other, frame);
    }
    count_call(pid, caller, frame.function);
}

/* The frame that an exit closes, or -1 if there is none. */
static ssize_t find_exited(const struct frames *frames, uint64_t function, uint64_t stack)
{
    ssize_t below = -1, i = (ssize_t)frames->count - 1;
    for (; i >= 0 && frames->at[i].position < stack; i--)
        if (frames->at[i].function == function) below = i;
    while (i >= 0 && frames->at[i].function != function) i--;
    return i >= 0 ? i : below; /* below: should the place of its return address have been mistaken */
}

static void leave(struct state *state, uint64_t function, uint64_t stack)
{
    struct frames *frames = is_own(state, stack) ? &state->own : &state->other;
    ssize_t found = find_exited(frames, function, stack);
    if (found < 0) return;
    if (frames == &state->other) /* the ones above may be another coroutine's, so only this one */
        memmove(frames->at + found, frames->at + found + 1, (frames->count-- - found - 1) * sizeof *frames->at);
    else
        frames->count = found;
}

/* ---- the logs ---------------------------------------------------------------------------------------------------- */

static int folder; /* its descriptor */
static struct log **logs; /* first the fresh ones, then the others by the place that they follow */
static size_t log_count;

static int compare_logs(const void *left, const void *right)
{
    const struct header *l = &(*(struct log **)left)->header, *r = &(*(struct log **)right)->header;
    if (l->from_pid != r->from_pid) return l->from_pid < r->from_pid ? -1 : 1;
    if (l->from_tid != r->from_tid) return l->from_tid < r->from_tid ? -1 : 1;
    if (l->from_n != r->from_n) return l->from_n < r->from_n ? -1 : 1;
    return (l->from_index > r->from_index) - (l->from_index < r->from_index);
}

/* The first log that follows this one; the others come next. */
static size_t first_follower(const struct log *log)
{
    struct log key = {.header = {.from_pid = log->pid, .from_tid = log->tid, .from_n = log->n}}, *pointer = &key;
    size_t low = 0, high = log_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_logs(&logs[middle], &pointer) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int follows(size_t i, const struct log *log)
{
    return i < log_count && logs[i]->header.from_pid == log->pid && logs[i]->header.from_tid == log->tid &&
           logs[i]->header.from_n == log->n;
}

static struct frames copy_frames(const struct frames *from)
{
    struct frames copy = {NULL, 0, 0};
    for (size_t i = 0; i < from->count; i++) push(&copy, from->at[i]);
    return copy;
}

/* Where the thread's stack lies: below its thread pointer, or it is the first one, named [stack], with the gap below.
 * The first event tells which, unless that was in a signal handler on another stack. */
static void read_maps(struct log *log, uint64_t first)
{
    uint64_t pointer = log->header.thread_pointer, end_before = 0, start, end, offset;
    struct { uint64_t low, high; } thread = {0, 0}, main = {0, 0};
    char line[8192], path[4096];
    strcpy(strrchr(log->name, '.'), ".maps");
    FILE *file = fdopen(openat(folder, log->name, O_RDONLY), "r");
    if (!file) die(log->name);
    while (fgets(line, sizeof line, file)) {
        path[0] = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095[^\n]", &start, &end, &offset, path) < 3)
            continue;
        if (path[0] == '/' && offset == 0) printf("module\t%" PRIu64 "\t%" PRIx64 "\t%s\n", log->pid, start, path);
        if (start < pointer && pointer <= end) thread.low = start, thread.high = pointer;
        if (!strcmp(path, "[stack]")) main.low = end_before, main.high = end;
        end_before = end;
    }
    fclose(file);
    int on_thread = thread.low <= first && first < thread.high;
    int on_main = main.low <= first && first < main.high;
    if (on_thread || (!on_main && log->pid != log->tid)) main.low = thread.low, main.high = thread.high;
    log->state.low = main.low, log->state.high = main.high;
}

/* Goes through one log, then through those that follow it, each from the state in which it left this one. */
static void replay(struct log *log)
{
    int file = openat(folder, log->name, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status)) die(log->name);
    struct record *base = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) die(log->name);
    close(file);
    struct record *end = base + status.st_size / sizeof *base, *record = base + sizeof log->header / sizeof *base;
    struct state *state = &log->state;
    if (log->header.kind == FRESH) read_maps(log, record->position & ADDRESS);
    size_t followers = first_follower(log), next = followers;
    for (;; record++) {
        /* A lone empty slot belongs to a hook that was interrupted and never went on. */
        int more = record < end && (record->function || (record + 1 < end && record[1].function));
        for (; follows(next, log) && (!more || record >= base + logs[next]->header.from_index); next++)
            logs[next]->state =
                (struct state){copy_frames(&state->own), copy_frames(&state->other), state->low, state->high};
        if (!more) break;
        if (!record->function) continue;
        uint64_t function = record->function & ADDRESS, position = record->position & ADDRESS;
        uint64_t call_site = record->function >> 48, hook_site = record->position >> 48;
        if (record->function >> 63) leave(state, function, position);
        else enter(state, log->pid, (struct frame){function, position, call_site, hook_site});
    }
    free(state->own.at);
    free(state->other.at);
    munmap(base, status.st_size);
    for (size_t i = followers; i < next; i++) replay(logs[i]);
}

int main(int argc, char **argv)
{
    DIR *entries = argc == 2 ? opendir(argv[1]) : NULL;
    if (!entries) return fprintf(stderr, "usage: eventlog-replay FOLDER\n"), 2;
    folder = dirfd(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        struct log log = {0};
        char end;
        if (sscanf(entry->d_name, "%" SCNu64 "-%" SCNu64 "-%" SCNu64 ".lo%c", &log.pid, &log.tid, &log.n, &end) != 4)
            continue;
        snprintf(log.name, sizeof log.name, "%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".log", log.pid, log.tid, log.n);
        int file = openat(folder, log.name, O_RDONLY);
        if (file < 0) die(log.name);
        ssize_t bytes = read(file, &log.header, sizeof log.header);
        close(file);
        if (bytes != sizeof log.header || memcmp(&log.header.magic, "EVENTLOG", 8)) continue; /* no head yet */
        logs = realloc(logs, (log_count + 1) * sizeof *logs);
        if (!logs || !(logs[log_count] = malloc(sizeof log))) die("memory");
        *logs[log_count++] = log;
    }
    qsort(logs, log_count, sizeof *logs, compare_logs);
    for (size_t i = 0; i < log_count && logs[i]->header.kind == FRESH; i++) replay(logs[i]);
    print_counts();
    return 0;
}
