/* The ways through the hooks that stepped.c, which has the compile lines, steps through. */
#define _GNU_SOURCE
#include "stepped-parts.h"
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

sigjmp_buf way_out;

static void outer_stepped(void)
{
    start_stepping();
    outer();
    stop_stepping();
}

/* Paths are known by their call sites: the same call, first without steps. (Through pointers, so that compilers do not make
 * two calls of it.) */
static void nothing(void) {}
static void (*volatile first)(void) = nothing, (*volatile last)(void) = nothing;

__attribute__((noinline)) static void known_outer(void)
{
    first();
    outer();
    last();
}

static void know(void)
{
    for (int i = 0; i < 3; i++) known_outer();
    first = start_stepping, last = stop_stepping;
}

static void fresh_stepped(void)
{
    start_stepping();
    fresh();
    stop_stepping();
}

/* ── Growth ── */

static int window_from, window_to, climb_height;

static void at_height(int left)
{
    int height = climb_height - left + 1;
    if (height == window_from) start_stepping();
    if (height == window_to) stop_stepping();
}

/* Steps from the body of one call of a recursion to that of another. */
static void climb_through(int from, int to)
{
    window_from = from, window_to = climb_height = to;
    climb(to, at_height);
}

static void to_256_frames(void) { climb_through(250, 258); }
static void to_512_frames(void) { climb_through(506, 514); }
static void to_1024_frames(void) { climb_through(1018, 1026); }
static void to_folding(void) { climb_through(124, 134); }

void new_paths(int from, int to)
{
    for (int i = from; i < to; i++) branch(i / 900 % 30, i / 30 % 30, i % 30);
}

static void paths_stepped(int from, int to)
{
    new_paths(0, from);
    start_stepping();
    new_paths(from, to);
    stop_stepping();
}

/* An index of 1024 slots grows at the 513th path, of 2048 at the 1025th, branches and twigs among them. */
static void to_512_paths(void) { paths_stepped(491, 497); }
static void to_1024_paths(void) { paths_stepped(986, 992); }

static void to_512_functions(void)
{
    for (int i = 0; i < 509; i++) one_of_many(i);
    start_stepping();
    for (int i = 509; i < 515; i++) one_of_many(i);
    stop_stepping();
}

/* Which new path needs a new block is tried beforehand. */
static void find_growth(void)
{
    shared->growth = 40;
    int pid = fork(), status;
    if (!pid) {
        int i = 20;
        new_paths(0, i);
        for (uint64_t used = control->used; i < 2000 && control->used == used; i++) new_paths(i, i + 1);
        if (i < 2000) shared->growth = i - 1;
        _exit(0);
    }
    waitpid(pid, &status, 0);
}

static void to_new_block(void) { paths_stepped(shared->growth, shared->growth + 1); }

/* ── Modules ── */

static void *module;
static void (*module_call_in)(void (*)(int), int, int);

static void load(void)
{
    module = dlopen("libstepped-module.so", RTLD_NOW);
    if (!module) abort();
    *(void **)&module_call_in = shared->module[0] = dlsym(module, "module_call");
    shared->module[1] = dlsym(module, "module_step");
}

static void call_module(void) { module_call_in(count_call, NUMBER_module_call, NUMBER_module_step); }

static void call_new_module(void)
{
    start_stepping();
    call_module();
    stop_stepping();
}

static void load_and_unload(void)
{
    load();
    call_module();
    know();
    dlclose(module);
}

static void unload_stepped(void)
{
    start_stepping();
    dlclose(module);
    stop_stepping();
}

static void load_and_call(void)
{
    load();
    call_module();
}

/* ── Threads and processes ── */

static void run_thread(void *(*body)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) || pthread_join(thread, NULL)) abort();
}

static void *first_call_of_thread(void *unused)
{
    weight = scenario->weight;
    step_in_this_thread();
    if (!sigsetjmp(way_out, 1)) outer_stepped();
    stop_stepping();
    outer();
    return unused;
}

static void *end_of_thread(void *unused)
{
    weight = scenario->weight;
    step_in_this_thread();
    outer();
    start_stepping();
    return unused;
}

static void thread_begins(void) { run_thread(first_call_of_thread); }
static void thread_ends(void) { run_thread(end_of_thread); }

static void process_ends(void)
{
    start_stepping();
    _exit(0);
}

/* A process that dies without a word, whose arena is there for the next. */
static void kill_one(void)
{
    int status, pid = fork();
    if (!pid) {
        outer();
        new_paths(0, 50);
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, &status, 0);
}

/* ── Restricted system calls ── */

static void seal(void)
{
    struct sock_filter filter[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) abort();
}

static void know_and_seal(void)
{
    know();
    seal();
}

static void seal_stepped(void)
{
    start_stepping();
    seal();
    stop_stepping();
}

/* ── No room ── */

static void fill(void) { new_paths(0, 27000); }

static void new_path_without_room(void)
{
    start_stepping();
    one_of_many(0);
    outer();
    stop_stepping();
}

/* ── Control words, and roots ── */

static void reset(void)
{
    know();
    memset(shared->calls, 0, sizeof shared->calls);
    __atomic_add_fetch(&control->epoch, 1, __ATOMIC_SEQ_CST);
}

static void pause_recording(void)
{
    know();
    control->paused = 1;
    weight = UNSEEN;
}

static void go_on(void)
{
    control->paused = 0;
    weight = SEEN;
}

static void while_paused(void)
{
    known_outer();
    go_on();
    outer();
}

static void once_resumed(void)
{
    pause_recording();
    outer();
    go_on();
    known_outer();
}

static void into_a_root(void)
{
    start_stepping();
    outer();
    entrance();
    stop_stepping();
}

static void know_root(void)
{
    know();
    entrance();
    entrance();
}

/* ── Frames that are gone, and other stacks ── */

static jmp_buf below;

static void at_the_top(int left)
{
    if (left == 1) longjmp(below, 1);
}

static void leave_frames(void)
{
    if (!setjmp(below)) climb(30, at_the_top);
}

static void enter_after_jump(void)
{
    leave_frames();
    outer_stepped();
}

static void leave_and_step(void)
{
    leave_frames();
    start_stepping();
}

static void exit_after_jump(void)
{
    holder(leave_and_step);
    stop_stepping();
}

static ucontext_t here, there;

static void on_other_stack(void)
{
    weight = scenario->weight;
    outer_stepped();
}

static void switch_stacks(void)
{
    static char room[1 << 18];
    getcontext(&there);
    there.uc_stack.ss_sp = room, there.uc_stack.ss_size = sizeof room, there.uc_link = &here;
    makecontext(&there, on_other_stack, 0);
    swapcontext(&here, &there);
    outer();
}

/* ── Trials of what timing costs begin after 131,072 calls of a thread ── */

static void nearly_to_a_trial(void)
{
    know();
    for (int i = 0; i < 43685; i++) outer(); /* of three calls each, and some before */
}

static void into_a_trial(void)
{
    start_stepping();
    for (int i = 0; i < 5; i++) outer();
    stop_stepping();
}

/* ── A stretch of calls that are only noted: with DIYTRACE_WINDOWS=8 after 16 calls, of 64 slots, two for a call ── */

static void into_a_ring(void)
{
    for (int i = 0; i < 9; i++) outer(); /* of three calls each */
}

static void into_a_ring_after_all(void)
{
    know();
    into_a_ring();
}

static void nearly_to_the_end_of_a_ring(void)
{
    for (int i = 0; i < 15; i++) outer();
}

static void to_the_end_of_a_ring(void)
{
    start_stepping();
    for (int i = 0; i < 2; i++) outer();
    stop_stepping();
}

static void jump_in_a_ring(void)
{
    into_a_ring();
    enter_after_jump();
}

static void switch_stacks_in_a_ring(void)
{
    into_a_ring();
    switch_stacks();
}

#define KNOWN_PATH(name, environment) {name, environment, 0, 0, know, known_outer, SEEN, SEEN, 0, ""}
#define ROOTS(name, environment, handler, prepare, under)                                                              \
    {name, "DIYTRACE_ROOT=entrance" environment, 0, 0, prepare, under, UNSEEN, handler, 0, "recorder"}

const struct scenario scenarios[] = {
    KNOWN_PATH("known", ""),
    KNOWN_PATH("known-sampled", "DIYTRACE_TIMING=sampled"),
    KNOWN_PATH("known-untimed", "DIYTRACE_TIMING=off"),
    KNOWN_PATH("known-gettime", "DIYTRACE_CLOCK=clock_gettime"),
    {"new-path", "", 0, 0, know, fresh_stepped, SEEN, SEEN, 0, ""},
    {"first-of-child", "", 0, 0, 0, outer_stepped, SEEN, SEEN, 0, ""},
    {"first-of-thread", "", 0, 0, 0, thread_begins, SEEN, SEEN, 0, ""},
    {"end-of-thread", "", 0, 0, 0, thread_ends, SEEN, SEEN, 1, ""},
    {"end-of-process", "", 0, 0, know, process_ends, SEEN, SEEN, 0, ""},
    {"adopted", "DIYTRACE_KEEP=0", 0, kill_one, 0, outer_stepped, SEEN, SEEN, 0, ""},
    {"frames-256", "", 0, 0, 0, to_256_frames, SEEN, SEEN, 0, ""},
    {"frames-512", "", 0, 0, 0, to_512_frames, SEEN, SEEN, 0, ""},
    {"frames-1024", "", 0, 0, 0, to_1024_frames, SEEN, SEEN, 0, ""},
    {"folding", "", 0, 0, 0, to_folding, SEEN, SEEN, 0, ""},
    {"paths-512", "", 0, 0, 0, to_512_paths, SEEN, SEEN, 0, ""},
    {"paths-1024", "", 0, 0, 0, to_1024_paths, SEEN, SEEN, 0, ""},
    {"functions-512", "", 0, 0, 0, to_512_functions, SEEN, SEEN, 0, ""},
    {"new-block", "", find_growth, 0, 0, to_new_block, SEEN, SEEN, 0, ""},
    {"new-module", "", 0, 0, load, call_new_module, SEEN, SEEN, 0, ""},
    {"unloading", "", 0, 0, load_and_call, unload_stepped, SEEN, SEEN, 0, ""},
    {"unloaded", "", 0, 0, load_and_unload, known_outer, SEEN, SEEN, 0, ""},
    {"sealing", "", 0, 0, know, seal_stepped, SEEN, SEEN, 0, "sealed"},
    {"sealed", "", 0, 0, know_and_seal, fresh_stepped, SEEN, SEEN, 0, "sealed"},
    {"enter-after-jump", "", 0, 0, know, enter_after_jump, SEEN, SEEN, 0, ""},
    {"exit-after-jump", "", 0, 0, know, exit_after_jump, SEEN, SEEN, 0, ""},
    {"other-stack", "", 0, 0, know, switch_stacks, SEEN, SEEN, 0, ""},
    {"trial-of-timing", "", 0, 0, nearly_to_a_trial, into_a_trial, SEEN, SEEN, 0, ""},
    {"trial-of-sampled", "DIYTRACE_TIMING=sampled", 0, 0, nearly_to_a_trial, into_a_trial, SEEN, SEEN, 0, ""},
    {"ring-known", "DIYTRACE_WINDOWS=8", 0, 0, into_a_ring_after_all, known_outer, SEEN, SEEN, 0, ""},
    {"ring-new-path", "DIYTRACE_WINDOWS=8", 0, 0, into_a_ring_after_all, fresh_stepped, SEEN, SEEN, 0, ""},
    {"ring-end", "DIYTRACE_WINDOWS=8", 0, 0, nearly_to_the_end_of_a_ring, to_the_end_of_a_ring, SEEN, SEEN, 0, ""},
    {"ring-jump", "DIYTRACE_WINDOWS=8", 0, 0, know, jump_in_a_ring, SEEN, SEEN, 0, ""},
    {"ring-other-stack", "DIYTRACE_WINDOWS=8", 0, 0, know, switch_stacks_in_a_ring, SEEN, SEEN, 0, ""},
    {"ring-sealed", "DIYTRACE_WINDOWS=8", 0, 0, know_and_seal, fresh_stepped, SEEN, SEEN, 0, "sealed"},
    {"paused", "", 0, 0, pause_recording, while_paused, SEEN, SEEN, 0, "recorder"},
    {"resumed", "", 0, 0, know, once_resumed, SEEN, SEEN, 0, "recorder"},
    {"reset", "", 0, 0, reset, known_outer, SEEN, SEEN, 0, "reset"},
    ROOTS("root-new", "", SEEN, 0, into_a_root),
    ROOTS("root-known", "", SEEN, know_root, into_a_root),
    ROOTS("depth", " DIYTRACE_DEPTH=1", PERHAPS, know_root, into_a_root),
    {"no-arena", "DIYTRACE_MEMORY=1M DIYTRACE_KEEP=0", fill, 0, 0, outer_stepped, SEEN, SEEN, 0, "lossy"},
    {"recycled", "DIYTRACE_MEMORY=1M DIYTRACE_KEEP=0", 0, 0, fill, new_path_without_room, SEEN, SEEN, 0, "full"},
    {"recycled-in-a-ring", "DIYTRACE_MEMORY=1M DIYTRACE_KEEP=0 DIYTRACE_WINDOWS=8", 0, 0, fill, new_path_without_room, SEEN,
     SEEN, 0, "full"},
    {"no-room", "DIYTRACE_MEMORY=1M DIYTRACE_KEEP=0", 0, 0, fill, new_path_without_room, SEEN, SEEN, 0, "lossy"},
    {0},
};
