/* A handler comes at every instruction of a hook, and does what handlers do. Every call is counted, and nothing dies.
 *
 *   cc -g -finstrument-functions -shared -fPIC -o libstepped-module.so stepped-module.c
 *   cc -g -finstrument-functions -c stepped-calls.c
 *   c++ -g -finstrument-functions -c stepped-throw.cc
 *   cc -g -c stepped.c stepped-trial.c stepped-handler.c stepped-stepper.c stepped-scenarios.c stepped-actions.c
 *   c++ -g -pthread -Wl,-z,now '-Wl,-rpath,$ORIGIN' -o stepped stepped.o stepped-trial.o stepped-handler.o stepped-stepper.o stepped-scenarios.o stepped-actions.o stepped-calls.o stepped-throw.o
 *
 *   stepped list
 *   stepped SCENARIO ACTION signal|sync|every|ptrace FIRST STRIDE TRIALS [own|alternate]
 *   stepped SCENARIO ACTION signal|sync|every|ptrace samples SEED TRIALS [own|alternate]
 *
 * A trial is a forked process. It takes the scenario's way through the hooks, and at the FIRST instruction on that way
 * where a signal could come (the next trial: STRIDE later) a handler acts, once, on the stack of what it interrupts or on
 * one of its own; in turns, if none of the two is given. After TRIALS trials, or where the way is too short for another, it
 * prints what each function was called, at least and at most, as the functions count themselves. Where ACTION is several
 * (`call,fork,throw`), each has so many trials, and the way is measured once:
 *
 *   steps N              of the way, at the last trial
 *   tripped N            trials that were made again, since they did not go where the first walk did
 *   trials N             and whether the way's end was reached: `end`
 *   failed ACTION STEP STACK: killed by SIGSEGV | hung | exited with 3 | …
 *   truth FUNCTION LEAST MOST
 *
 * Where nothing in particular happens both are the same. A handler that jumps out of an enter hook leaves a call whose
 * body never runs: it may or may not have been counted. One that forks a child which returns, too, has the rest of the
 * enter hook run twice, and the body: one or two calls. With roots, a call of a handler that interrupts the hooks of the
 * root itself may be inside or outside.
 *
 * It says 1 if a trial failed. Under a preload that answers to `diytrace_counted` it compares the truth with it itself. */
#define _GNU_SOURCE
#include "stepped-parts.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_HUNG = 2 };

static int failures, hung;

/* What every trial ends with: calls of all kinds, none of which may be miscounted now. */
static void go_on_as_ever(void)
{
    outer();
    climb(20, NULL);
    new_paths(20000, 20035);
    entrance();
}

static void run_trial(void)
{
    weight = scenario->weight;
    step_in_this_thread();
    if (scenario->prepare) scenario->prepare();
    if (!sigsetjmp(way_out, 1)) scenario->under();
    stop_stepping();
    if (control->paused) control->paused = 0;
    weight = scenario->weight;
    go_on_as_ever();
    _exit(0);
}

/* ── The parent ── */

static void fail(const char *how, int number)
{
    const char *stack = trial.is_alternate ? "alternate" : "own";
    printf("failed %s %ld %s: %s%s\n", action->name, trial.at, stack, how, number > 0 ? sigabbrev_np(number) : "");
    failures++;
}

static void judge(int status)
{
    /* It did not take the way of the first walk, and came to the breakpoint with signals blocked. */
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP && shared->has_leapt && !shared->acts) shared->tripped++;
    else if (WIFSIGNALED(status)) fail("killed by SIG", WTERMSIG(status));
    else if (status) fail("exited with a complaint", 0);
    int grandchild = shared->grandchild;
    if (grandchild && WIFSIGNALED(grandchild)) fail("its child killed by SIG", WTERMSIG(grandchild));
    else if (grandchild) fail("its child exited with a complaint", 0);
}

static void try(void)
{
    shared->steps = shared->acts = shared->has_leapt = shared->is_window_over = shared->grandchild = shared->waiting_for = 0;
    if (scenario->before) scenario->before();
    fflush(stdout);
    int pid = fork(), status = 0;
    if (!pid) {
        setpgid(0, 0);
        run_trial();
    }
    setpgid(pid, pid);
    if (trial.stepper == PTRACE && (status = step_by_ptrace(pid, trial.at))) return judge(status);
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    const char *patience = getenv("STEPPED_PATIENCE"); /* in seconds */
    int is_over = poll(&end, 1, 1000 * (patience ? atoi(patience) : 300));
    close(end.fd);
    if (is_over != 1) {
        fail("hung", 0);
        hung++;
        kill(-pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    if (is_over == 1) judge(status);
}

/* How many steps there are. */
static long measure(void)
{
    enum stepper wanted = trial.stepper;
    long before = trial.at;
    trial.stepper = SIGNAL;
    trial.at = FIRST_WALK;
    shared->instructions = 0;
    shared->may_leap = 0;
    try();
    trial.stepper = wanted, trial.at = before;
    return shared->steps;
}

/* One trial; once more, and on foot, if its breakpoint was not come to. */
static void try_once_or_twice(void)
{
    int before = failures;
    try();
    if (shared->acts || failures > before || !shared->may_leap || trial.at > shared->walked) return;
    shared->may_leap = 0;
    try();
    shared->may_leap = 1;
}

static const char *first_argument, *second_argument, *trials_argument, *stack_argument;
static const struct action *wanted_actions[16]; /* with none behind them */

/* Trials of one of the actions, on a way of so many steps, if that is known: how many there were. `steps` becomes that of the last. */
static long try_action(int number, long *steps, int *is_over)
{
    long trials = 0, most = atol(trials_argument), stride = atol(second_argument), turn;
    trial.at = turn = atol(first_argument);
    if (!strcmp(first_argument, "samples")) {
        long seed = stride;
        long all = trial.stepper == PTRACE ? shared->instructions : *steps;
        stride = all / most > 0 ? all / most : 1;
        trial.at = (seed + 97 * number) % stride, turn = seed; /* each at other steps */
    }
    /* Which call is left, or doubled, must be seen: it may be another one than on the first walk. */
    shared->may_leap = trial.stepper == SIGNAL && !action->leaves && !action->doubles;
    *is_over = 0;
    while (!*is_over && trials < most && hung < MOST_HUNG) {
        trial.is_alternate = stack_argument ? !strcmp(stack_argument, "alternate") : (int)(turn++ % 2);
        try_once_or_twice();
        trials++;
        *steps = shared->steps > *steps ? shared->steps : *steps;
        *is_over = trial.stepper == EVERY ? trials == 2 || stack_argument : !shared->acts && trial.at >= *steps;
        trial.at += stride;
    }
    return trials;
}

/* Inside `household`, which is open over all trials. */
static void run_all(void)
{
    if (scenario->begin) scenario->begin();
    long trials = 0, of_way = 0, steps = 0;
    int is_over = 1;
    if (!strcmp(first_argument, "samples") || trial.stepper == SIGNAL) of_way = measure();
    for (int number = 0; (action = wanted_actions[number]); number++) {
        long of_action = of_way;
        int is_its_end;
        trials += try_action(number, &of_action, &is_its_end);
        steps = of_action > steps ? of_action : steps;
        is_over &= is_its_end;
    }
    printf("steps %ld\ntripped %d\ntrials %ld%s\n", steps, shared->tripped, trials, is_over ? " end" : "");
}

/* The actions that are named, with commas between them. False if one is none. */
static int find_actions(char *names)
{
    size_t count = 0;
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        for (action = actions; action->name && strcmp(action->name, name);) action++;
        if (!action->name || count + 1 == sizeof wanted_actions / sizeof *wanted_actions) return 0;
        wanted_actions[count++] = action;
    }
    action = wanted_actions[0];
    return count > 0;
}

/* The first page of the profile, if a recorder has made one. */
static void find_profile(void)
{
    static struct control none;
    control = &none;
    const char *folder = getenv("DIYTRACE_OUT");
    DIR *files = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; files && (entry = readdir(files));) {
        int file = strstr(entry->d_name, ".diyt") ? openat(dirfd(files), entry->d_name, O_RDWR) : -1;
        void *page = file < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) control = page;
        if (file >= 0) close(file);
    }
    if (files) closedir(files);
}

static void print_truth(void)
{
    long (*counted)(void *) = NULL;
    *(void **)&counted = dlsym(RTLD_DEFAULT, "diytrace_counted");
    for (int i = 0; i < FUNCTIONS; i++) {
        char room[16];
        struct truth calls = shared->calls[i];
        if (!calls.most) continue;
        printf("truth %s %ld %ld\n", name_of(i, room), calls.least, calls.most);
        long found = counted ? counted(address_of(i)) : calls.most;
        if (found < calls.least || found > calls.most) printf("wrong %s %ld\n", name_of(i, room), found), failures++;
    }
}

static int list(void)
{
    for (const struct scenario *s = scenarios; s->name; s++)
        printf("scenario\t%s\t%s\t%s\t%s\n", s->name, s->environment, s->only, s->has_no_way_out ? "no-way-out" : "");
    for (const struct action *a = actions; a->name; a++)
        printf("action\t%s\t%s\n", a->name, a->leaves ? "leaves" : a->doubles ? "doubles" : "returns");
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const steppers[] = {"signal", "sync", "every", "ptrace"};
    if (argc == 2 && !strcmp(argv[1], "list")) return list();
    if (argc != 7 && argc != 8) return 2;
    for (scenario = scenarios; scenario->name && strcmp(scenario->name, argv[1]);) scenario++;
    while (trial.stepper < STEPPERS && strcmp(steppers[trial.stepper], argv[3])) trial.stepper++;
    if (!scenario->name || !find_actions(argv[2]) || trial.stepper == STEPPERS) return 2;
    first_argument = argv[4], second_argument = argv[5], trials_argument = argv[6], stack_argument = argv[7];
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    find_recorder();
    find_profile();
    weight = scenario->weight;
    household(run_all);
    print_truth();
    return failures > 0;
}
