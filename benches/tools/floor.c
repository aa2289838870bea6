// The least that timing every call can cost: two readings of the clock and one thread-local sum.
//   cc -O2 -shared -fPIC floor.c -o libfloor.so
#include <stdint.h>

static __thread uint64_t sum __attribute__((tls_model("initial-exec")));

static inline uint64_t ticks(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

void __cyg_profile_func_enter(void *function, void *site) {
    (void)function, (void)site;
    sum -= ticks();
}

void __cyg_profile_func_exit(void *function, void *site) {
    (void)function, (void)site;
    sum += ticks();
}
