/* A handler with deep calls, or one that jumps out, comes while the recorder makes room for frames and for new paths.
 *
 *   cc -g -finstrument-functions -o interrupted interrupted.c
 *
 *   interrupted deep PROCESSES   one after the other: in each a single tick, whose handler `on_tick` calls `dive`, 600 deep,
 *                                comes while `work` calls `climb`, ever deeper, and `walk`, on new paths
 *   interrupted jump TICKS       so many ticks, each of which leaves `work` by siglongjmp
 *
 * Each function counts its own calls, first of all. It prints how many processes were killed by a signal, how many ticks
 * came, and how often each function was called. A tick that jumps out may leave a call that has been entered, but has not
 * counted itself. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

#define FUNCTIONS(X) X(main) X(work) X(climb) X(walk) X(step_0) X(step_1) X(step_2) X(on_tick) X(dive)
#define NUMBER(name) NUMBER_##name,
#define NAME(name) #name,
enum { FUNCTIONS(NUMBER) ALL };
static const char *const names[] = {FUNCTIONS(NAME)};
static long *calls; /* of all processes */
#define COUNT(name) __atomic_add_fetch(&calls[NUMBER_##name], 1, __ATOMIC_RELAXED)

static int jumps;
static volatile int ticks, sum;
static sigjmp_buf back;

APART static void dive(int depth)
{
    COUNT(dive);
    if (depth > 1) dive(depth - 1);
    sum++;
}

APART static void on_tick(int signal)
{
    (void)signal;
    COUNT(on_tick);
    ticks++;
    if (jumps) siglongjmp(back, 1);
    dive(600);
}

APART static void climb(int depth)
{
    COUNT(climb);
    if (depth > 1) climb(depth - 1);
    sum++;
}

APART static void walk(unsigned way, int length);
APART static void step_0(unsigned way, int length) { COUNT(step_0), walk(way / 3, length - 1), sum++; }
APART static void step_1(unsigned way, int length) { COUNT(step_1), walk(way / 3, length - 1), sum++; }
APART static void step_2(unsigned way, int length) { COUNT(step_2), walk(way / 3, length - 1), sum++; }

/* Each way is a path of its own. */
APART static void walk(unsigned way, int length)
{
    COUNT(walk);
    if (length == 0) return;
    if (way % 3 == 0) step_0(way, length);
    if (way % 3 == 1) step_1(way, length);
    if (way % 3 == 2) step_2(way, length);
}

/* Ever deeper, and ever new, up to some thousand paths. */
APART static void work(unsigned round)
{
    COUNT(work);
    climb((int)(round * 37 % (jumps ? 200 : 700)) + 1);
    for (unsigned i = 0; i < 8; i++) walk((round * 8 + i) * 7919 % 2187, 7);
    sum++;
}

UNSEEN static void tick(int microseconds, int again)
{
    struct itimerval timer = {{0, again ? microseconds : 0}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

UNSEEN static void interrupt_once(int process)
{
    tick(100 + process * 7919 % 1000, 0);
    for (unsigned round = (unsigned)process; !ticks; round++) work(round);
    _exit(0);
}

UNSEEN static int fork_and_interrupt(int processes)
{
    int killed = 0;
    for (int i = 0; i < processes; i++) {
        int pid = fork(), status;
        if (!pid) interrupt_once(i);
        waitpid(pid, &status, 0);
        killed += WIFSIGNALED(status);
    }
    return killed;
}

UNSEEN static void jump_out(int wanted)
{
    volatile unsigned round = 0;
    sigsetjmp(back, 1);
    if (ticks < wanted) tick(50 + ticks % 50, 1);
    else tick(0, 0);
    while (ticks < wanted) work(round++);
    tick(0, 0);
}

int main(int argc, char **argv)
{
    calls = mmap(NULL, ALL * sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    COUNT(main);
    if (argc != 3) return 2;
    jumps = !strcmp(argv[1], "jump");
    struct sigaction action = {.sa_handler = on_tick};
    sigaction(SIGALRM, &action, NULL);
    int number = (int)strtol(argv[2], NULL, 10), killed = 0;
    if (jumps) jump_out(number);
    else killed = fork_and_interrupt(number);
    printf("%d killed\n%ld ticks\n", killed, calls[NUMBER_on_tick]);
    for (int i = 0; i < ALL; i++) printf("%ld %s\n", calls[i], names[i]);
    return 0;
}
