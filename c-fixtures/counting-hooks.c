/* Hooks that do nothing but count, by function: what holds for any sound recorder can be tried on them, and that a harness
 * sees what an unsound one does.
 *
 *   gcc -O2 -shared -fPIC -o libcounting-hooks.so counting-hooks.c
 *   LD_PRELOAD=./libcounting-hooks.so stepped known call signal 0 1 100000
 *
 * COUNTING=torn counts in three instructions, not one; =twice forgets that a handler may come before it says that it is at
 * work; =blocked blocks signals and forgets them; =wild falls over when a handler comes at a certain place; =stuck waits for
 * itself. Every other call blocks all signals for a while, as a recorder may for what takes longer. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 1 << 14 };

static struct slot { void *function; long calls; } *slots;
static int is_torn, is_double, is_forgetful, is_wild, is_stuck;
static volatile int is_at_work, sum;

__attribute__((constructor)) static void prepare(void)
{
    const char *how = getenv("COUNTING") ? getenv("COUNTING") : "";
    slots = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    is_torn = !strcmp(how, "torn"), is_double = !strcmp(how, "twice"), is_forgetful = !strcmp(how, "blocked");
    is_wild = !strcmp(how, "wild"), is_stuck = !strcmp(how, "stuck");
}

static struct slot *slot_of(void *function)
{
    for (uintptr_t i = (uintptr_t)function >> 2;; i++) {
        struct slot *slot = &slots[i % SLOTS];
        void *none = NULL;
        if (__atomic_compare_exchange_n(&slot->function, &none, function, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
            none == function)
            return slot;
    }
}

long diytrace_counted(void *function) { return slot_of(function)->calls; }

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    struct slot *slot = slot_of(function);
    if ((is_wild || is_stuck) && is_at_work) {
        if (is_wild) __builtin_trap();
        while (is_at_work) {}
    }
    is_at_work = 1;
    if (is_torn) {
        volatile long calls = slot->calls;
        slot->calls = calls + 1;
    } else {
        __atomic_add_fetch(&slot->calls, is_double && sum % 2 ? 2 : 1, __ATOMIC_RELAXED);
    }
    if (is_double) sum++;
    if (is_double) sum--;
    is_at_work = 0;
    if (slot->calls % 2) {
        sigset_t all, before;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, &before);
        for (int i = 0; i < 100; i++) is_at_work = 0;
        if (!is_forgetful) sigprocmask(SIG_SETMASK, &before, NULL);
    }
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function, (void)site;
    is_at_work = 0;
}
