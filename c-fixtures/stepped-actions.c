/* What the handler of stepped.c, which has the compile lines, does at an instruction of a hook. */
#define _GNU_SOURCE
#include "stepped-parts.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void do_nothing(void) {}
static void call(void) { on_signal(inner); }
static void wait_a_moment(void) { usleep(1); }
static void wait_in_a_call(void) { on_signal(wait_a_moment); }
static void go_deep(void) { down(600); }
static void take_new_paths(void) { new_paths(26000, 26700); }
static void leave(void) { siglongjmp(way_out, 1); }
static void call_and_leave(void) { fling(leave); }
static void throw_and_catch(void) { on_signal(catches); }

/* A thread begins outside every root; a pause is for all. */
static void *run_thread(void *starter)
{
    weight = scenario->weight == UNSEEN ? UNSEEN : *(enum weight *)starter;
    in_thread();
    return NULL;
}

static void start_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_thread, &weight) || pthread_join(thread, NULL)) abort();
}

static void load(void)
{
    void *module = dlopen("libstepped-module.so", RTLD_NOW);
    if (!module) abort();
    void (*module_call)(void (*)(int), int, int);
    *(void **)&module_call = shared->module[0] = dlsym(module, "module_call");
    shared->module[1] = dlsym(module, "module_step");
    module_call(count_call, NUMBER_module_call, NUMBER_module_step);
}

static void await(int pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || status) shared->grandchild = status ? status : -1;
}

static void fork_and_exit(void)
{
    int pid = fork();
    if (!pid) _exit(0);
    await(pid);
}

static void fork_and_call(void)
{
    int pid = fork();
    if (!pid) {
        on_signal(outer);
        _exit(0);
    }
    await(pid);
}

/* The child goes on where the hook was interrupted, to the end of its trial; then its parent does. */
static void fork_and_go_on(void)
{
    uint32_t paused = control->paused;
    int pid = fork();
    if (!pid) return;
    await(pid);
    control->paused = paused;
}

const struct action actions[] = {
    {"nothing", do_nothing, 0, 0},
    {"call", call, 0, 0},
    {"wait", wait_in_a_call, 0, 0},
    {"deep", go_deep, 0, 0},
    {"paths", take_new_paths, 0, 0},
    {"jump", leave, 1, 0},
    {"call-jump", call_and_leave, 1, 0},
    {"fork", fork_and_exit, 0, 0},
    {"fork-call", fork_and_call, 0, 0},
    {"fork-on", fork_and_go_on, 0, 1},
    {"throw", throw_and_catch, 0, 0},
    {"thread", start_thread, 0, 0},
    {"load", load, 0, 0},
    {0},
};
