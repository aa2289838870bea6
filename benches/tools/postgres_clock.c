// The true time of PostgreSQL's executor: a module whose hook, compiled without ours, reads the clock before and after
// the outermost standard_ExecutorRun().
//   cc -O2 -shared -fPIC -I$(pg_config --includedir-server) postgres_clock.c -o postgres_clock.so
//   postgres -c shared_preload_libraries=/path/postgres_clock   with BENCH_CLOCK=FILE in its environment
// adds a line to FILE for each statement: wall time and the thread's processor time, both in ns.
#include "postgres.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "executor/executor.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

static char path[MAXPGPATH];
static int depth;

static int64 now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64CONST(1000000000) + t.tv_nsec;
}

static void run(QueryDesc *query, ScanDirection direction, uint64 count
#if PG_VERSION_NUM < 180000
                , bool once
#endif
) {
    int64 processor = now(CLOCK_THREAD_CPUTIME_ID);
    int64 wall = now(CLOCK_MONOTONIC);
    depth++;
    PG_TRY();
    {
#if PG_VERSION_NUM < 180000
        standard_ExecutorRun(query, direction, count, once);
#else
        standard_ExecutorRun(query, direction, count);
#endif
    }
    PG_FINALLY();
    { depth--; }
    PG_END_TRY();
    wall = now(CLOCK_MONOTONIC) - wall;
    processor = now(CLOCK_THREAD_CPUTIME_ID) - processor;
    if (depth > 0) return;
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0) return;
    dprintf(file, "%lld %lld\n", (long long)wall, (long long)processor);
    close(file);
}

void _PG_init(void) {
    // The postmaster reads it before anyone overwrites the environment; backends are forked with it.
    const char *name = getenv("BENCH_CLOCK");
    if (!name) return;
    snprintf(path, sizeof path, "%s", name);
    ExecutorRun_hook = run;
}
