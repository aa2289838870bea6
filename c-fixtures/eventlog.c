/* An event log, written by nothing we test: what diytrace counted must agree with it to the last call.
 *
 *   gcc -O2 -Wall -Wextra -shared -fPIC -o libeventlog.so eventlog.c        (clang takes the same; no instrumentation)
 *   EVENTLOG_DIR=logs LD_PRELOAD="./libeventlog.so ./libdiytrace.so" ./program && eventlog-replay logs
 *
 * Each enter and exit becomes one record, and the hook then jumps to the next library's with the stack and the arguments
 * as they came. The log is a mapped file, so kill -9 loses nothing. Files are named <pid>-<tid>-<n>.log; a thread has
 * one for every SEGMENT bytes. A fresh thread also leaves <pid>-<tid>-<n>.maps, a copy of its /proc/self/maps.
 *
 *   header (80 bytes)   magic  pid  tid  ppid  kind  from_pid  from_tid  from_n  from_index  thread_pointer
 *                       kind: 0 a fresh thread, 1 the same thread's next segment, 2 a forked child;
 *                       from_*: the log file it follows, and how many of its records are this one's past
 *   record (16 bytes)   u64: bit 63 exit? | bits 48-62 low bits of the call site  | bits 0-47 function
 *                       u64:                bits 48-63 low bits of the hook's site | bits 0-47 position
 *   the end             zeros
 *
 * An enter's position is where the return address of the (physical) function lies, which is what tells one frame from
 * another: the stack pointer alone does not, since a call's frame may be larger than that of the call before it in the
 * same place, which longjmp left. An exit's position is the stack pointer at the hook's entry.
 * A child made by vfork writes to its suspended parent's log. If the disk is full the program dies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEGMENT (64u << 20)
#define HIDDEN __attribute__((visibility("hidden"), used))

struct record { uint64_t function, position; };
struct header { uint64_t magic, pid, tid, ppid, kind, from_pid, from_tid, from_n, from_index, thread_pointer; };
enum kind { FRESH, CONTINUED, CHILD };

/* Lies in a page that fork wipes: where the thread's segment ends, and zero in a child until it has its own. */
struct live { struct record *end; };
static struct live nowhere;

static __thread __attribute__((tls_model("initial-exec"))) struct {
    struct record *next, *base, *previous;
    struct live *live;
    uint64_t pid, tid, n;
} self = {.live = &nowhere};

static char folder[PATH_MAX];
static pthread_key_t thread_end;
HIDDEN void (*next_enter)(void *, void *);
HIDDEN void (*next_exit)(void *, void *);

static void die(const char *what)
{
    dprintf(2, "eventlog: %s: %s\n", what, strerror(errno));
    abort();
}

static void end_of_thread(void *live)
{
    struct record *base = self.base, *previous = self.previous;
    memset(&self, 0, sizeof self);
    self.live = &nowhere;
    munmap(live, sizeof(struct live));
    munmap(base, SEGMENT);
    if (previous) munmap(previous, SEGMENT);
}

/* At load, or at the first event if another library's constructor comes before ours. Not later: PostgreSQL writes over
 * its environment, and a daemon changes its folder. */
__attribute__((constructor)) static void prepare(void)
{
    if (next_enter) return;
    const char *dir = getenv("EVENTLOG_DIR");
    if (dir && !realpath(dir, folder)) die(dir);
    pthread_key_create(&thread_end, end_of_thread);
    next_exit = dlsym(RTLD_NEXT, "__cyg_profile_func_exit"); /* at the latest libc's, which returns at once */
    next_enter = dlsym(RTLD_NEXT, "__cyg_profile_func_enter");
}

static void copy_maps(uint64_t pid, uint64_t tid, uint64_t n)
{
    char name[PATH_MAX + 80], buffer[4096];
    snprintf(name, sizeof name, "%s/%lu-%lu-%lu.maps", folder, pid, tid, n);
    int in = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), out = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (ssize_t n; (n = read(in, buffer, sizeof buffer)) > 0;)
        if (write(out, buffer, n) != n) die(name);
    close(in);
    close(out);
}

/* Begins the next file: the first of a thread, the first of a child, or one more because the last is full. */
static void open_segment(void)
{
    prepare();
    if (!folder[0]) die("EVENTLOG_DIR is not set");
    enum kind kind = self.live == &nowhere ? FRESH : self.live->end ? CONTINUED : CHILD;
    struct header header = {.pid = getpid(), .tid = syscall(SYS_gettid), .ppid = getppid(), .kind = kind};
    memcpy(&header.magic, "EVENTLOG", 8);
    __asm__("movq %%fs:0, %0" : "=r"(header.thread_pointer));
    if (kind == FRESH) {
        self.live = mmap(NULL, sizeof *self.live, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (self.live == MAP_FAILED || madvise(self.live, sizeof *self.live, MADV_WIPEONFORK)) die("MADV_WIPEONFORK");
        pthread_setspecific(thread_end, self.live);
    } else {
        header.from_pid = self.pid, header.from_tid = self.tid, header.from_n = self.n;
        header.from_index = self.next - self.base - 2; /* less the two slots that the event in hand tried to have */
    }

    char name[PATH_MAX + 80];
    int file;
    uint64_t n = kind == CONTINUED ? self.n + 1 : 0; /* names are taken where exec, or a thread's number, came again */
    do
        snprintf(name, sizeof name, "%s/%lu-%lu-%lu.log", folder, header.pid, header.tid, n);
    while ((file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0 && errno == EEXIST && ++n);
    if (file < 0 || ftruncate(file, SEGMENT)) die(name);
    struct record *base = mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) die(name);
    madvise(base, SEGMENT, MADV_RANDOM); /* or the kernel reads ahead, zeros, more than most processes log */
    close(file);
    if (kind == FRESH) copy_maps(header.pid, header.tid, n);

    /* A hook that a signal interrupted may still have a slot to fill in the last segment, so that stays mapped. */
    if (self.previous) munmap(self.previous, SEGMENT);
    self.previous = self.base;
    self.pid = header.pid, self.tid = header.tid, self.n = n;
    self.base = base;
    self.next = base + sizeof header / sizeof *base;
    memcpy(base, &header, sizeof header);
    self.live->end = base + SEGMENT / sizeof *base;
}

/* One instruction, so that a signal handler's events get other slots. No lock prefix: nobody else writes here. */
static inline struct record *reserve(void)
{
    struct record *slot = (struct record *)sizeof *slot;
    __asm__ volatile("xaddq %0, %1" : "+r"(slot), "+m"(self.next));
    return slot;
}

static __attribute__((noinline)) struct record *reserve_slowly(void)
{
    int saved_errno = errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct record *slot;
    while ((slot = reserve()) >= self.live->end) open_segment();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved_errno;
    return slot;
}

static inline void put(uint64_t exit, uint64_t function, uint64_t call_site, uint64_t hook_site, uint64_t position)
{
    struct record *slot = reserve();
    if (__builtin_expect(slot >= self.live->end, 0)) slot = reserve_slowly();
    slot->position = position | hook_site << 48;
    slot->function = exit << 63 | (call_site & 0x7fff) << 48 | function;
}

/* As the kernel sees it: an invalid first argument is only told once the second could be read. */
static int is_readable(const void *address)
{
    int saved_errno = errno, readable = syscall(SYS_rt_sigprocmask, ~0L, address, NULL, 8) && errno == EINVAL;
    errno = saved_errno;
    return readable;
}

/* The first place that holds the return address; none if the hook was called by hand, with an address of no call. */
static __attribute__((noinline)) uint64_t search_return_address(const uint64_t *stack, uint64_t call_site)
{
    for (uint64_t distance = 1; distance < 0xffff; distance++) {
        if ((uintptr_t)&stack[distance] % 4096 == 0 && !is_readable(&stack[distance])) break;
        if (stack[distance] == call_site) return distance;
    }
    return 0;
}

/* Where the return address lies: as far above the hook's stack pointer as the last time at this hook, if it is there.
 * (The first place could be in a variable not yet set, left there by an earlier and deeper call.) */
static inline uint64_t *find_return_address(uint64_t *stack, uint64_t call_site)
{
    static uint64_t distances[1 << 16]; /* by hook: its site << 16 | distance */
    uint64_t hook_site = *stack, *known = &distances[(hook_site ^ hook_site >> 16) & 0xffff], entry = *known;
    if (entry >> 16 == (hook_site & ~0ull >> 16) && stack[entry & 0xffff] == call_site) return stack + (entry & 0xffff);
    uint64_t distance = search_return_address(stack, call_site);
    *known = hook_site << 16 | distance;
    return stack + distance;
}

HIDDEN void log_enter(uint64_t function, uint64_t call_site, uint64_t *stack)
{
    put(0, function, call_site, *stack, (uint64_t)find_return_address(stack, call_site));
}

HIDDEN void log_exit(uint64_t function, uint64_t call_site, uint64_t *stack)
{
    put(1, function, call_site, *stack, (uint64_t)stack);
}

#define HOOK(name, log, next)                                                                                          \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\nendbr64\n"                  \
            "push %rdi\n.cfi_adjust_cfa_offset 8\npush %rsi\n.cfi_adjust_cfa_offset 8\n"                               \
            "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"                                                                 \
            "lea 24(%rsp), %rdx\ncall " log "\n"                                                                       \
            "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"                                                                \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\npop %rdi\n.cfi_adjust_cfa_offset -8\n"                               \
            "jmp *" next "(%rip)\n.cfi_endproc\n.size " name ", . - " name "\n")

HOOK("__cyg_profile_func_enter", "log_enter", "next_enter");
HOOK("__cyg_profile_func_exit", "log_exit", "next_exit");
