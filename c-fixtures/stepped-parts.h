/* What the parts of stepped.c share; see there. Everything but stepped-calls.c, stepped-throw.cc and stepped-module.c is
 * compiled without hooks. */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ── The instrumented calls (stepped-calls.c, stepped-throw.cc, stepped-module.c) ── */

/* Each counts itself, by number, as the first thing in its body. */
#define NAMED(X)                                                                                                       \
    X(household) X(outer) X(inner) X(fresh) X(climb) X(down) X(holder) X(on_signal) X(fling) X(entrance) X(descend)      \
    X(beyond) X(in_thread) X(catches) X(passes) X(throws) X(module_call) X(module_step)
#define NUMBER(name) NUMBER_##name,
enum { NAMED(NUMBER) LEAVES, TWIGS = LEAVES + 30, BRANCHES = TWIGS + 30, MANY = BRANCHES + 30, FUNCTIONS = MANY + 600 };

void household(void (*run)(void)); /* open over all trials */
void outer(void);                  /* calls inner, twice */
void inner(void);
void fresh(void);
void climb(int depth, void (*at)(int)); /* a recursion, which calls `at` with what is left in every body */
void down(int depth);
void holder(void (*what)(void));
void on_signal(void (*what)(void));
void fling(void (*leave)(void));
void entrance(void); /* a root, where there are roots: calls descend, which calls beyond */
void descend(void);
void beyond(void);
void in_thread(void); /* calls outer */
void catches(void);   /* calls passes, which calls throws, which throws */
void leaf(int number);                      /* one of 30 functions */
void twig(int number, int leaf);            /* one of 30, calls a leaf */
void branch(int number, int twig, int leaf);
void one_of_many(int number); /* one of 600 */

const char *name_of(int function, char room[16]);
void *address_of(int function); /* of those in the program */

/* ── The truth (stepped-trial.c) ── */

/* What a call counts for: nothing (the recorder is not to see it), perhaps, or one. */
enum weight { UNSEEN, PERHAPS, SEEN };
extern __thread enum weight weight;

/* By function: how often it was called, at least and at most. */
struct truth { long least, most; };

/* What the first walk finds: how often an instruction was reached, and what each step was at. */
enum { FIRST_WALK = -1, PLACES = 1 << 18, STEPS = 1 << 18 };
struct reached { uintptr_t at; long times, is_blocked; };
struct place { uintptr_t at; long times; void *function; };

struct shared {
    struct truth calls[FUNCTIONS];
    void *module[2]; /* where module_call and module_step lie */
    long steps;      /* at which a handler could have come in this trial */
    long acts;       /* of the handler in this trial */
    int is_window_over, grandchild, growth;
    long waiting_for; /* the function that was entered and has not counted itself, as the parent that steps has seen it */
    long walked, instructions; /* the last step of the first walk, and how many instructions there were */
    int may_leap, has_leapt, tripped;
    struct place places[STEPS];
    struct reached reached[PLACES];
};
extern struct shared *shared;

void count_call(int function);

/* ── The profile's control words, if there is a profile ── */

struct control { uint64_t first[2], used, capacity, extent; volatile uint32_t paused, epoch; };
extern struct control *control;

/* ── The stepper (stepped-stepper.c) ── */

enum stepper {
    SIGNAL, /* the trap flag, one action, where a signal that can be blocked would come */
    SYNC,   /* the trap flag, one action, wherever SIGTRAP is not blocked */
    EVERY,  /* as SIGNAL, but an action at every instruction of one trial */
    PTRACE, /* a parent steps, and sends a signal */
    STEPPERS
};

extern struct trial {
    enum stepper stepper;
    long at;          /* the step that the handler comes at */
    int is_alternate; /* whether it has a stack of its own */
} trial;

void find_recorder(void);
void step_in_this_thread(void); /* as the trial says; in every thread that steps */
void start_stepping(void);
void stop_stepping(void);
int step_by_ptrace(int pid, long steps); /* by the parent: how the child ended or stopped before that, 0 if it goes on */

/* ── Scenarios: ways through the hooks (stepped-scenarios.c) ── */

struct scenario {
    const char *name;
    const char *environment;     /* what must be set when the program starts */
    void (*begin)(void);         /* once, in the parent */
    void (*before)(void);        /* in the parent, before each trial */
    void (*prepare)(void);       /* in the trial's process */
    void (*under)(void);         /* what is stepped through */
    enum weight weight, handler; /* of calls that are not inside `entrance`; the most that a handler's calls have there */
    int has_no_way_out;          /* nothing to jump to */
    const char *only;            /* "recorder": means nothing to other preloads; "lossy": room ends; "sealed": what is new is lost; "reset": the last trial counts */
};
extern const struct scenario scenarios[];
extern sigjmp_buf way_out;
void new_paths(int from, int to); /* of branch, twig and leaf */

/* ── Actions: what the handler does (stepped-actions.c) ── */

struct action {
    const char *name;
    void (*act)(void);
    int leaves;  /* does not return */
    int doubles; /* returns in two processes */
};
extern const struct action actions[];
extern const struct scenario *scenario;
extern const struct action *action;

/* ── The handler (stepped-handler.c) ── */

void act(void *interrupted_enter); /* the function whose enter hook is interrupted, or none */

#ifdef __cplusplus
}
#endif
