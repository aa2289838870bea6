/* A program with an allocator of its own, instrumented, which libc and every library use from the first moment on: while
 * they are loaded, in every new thread, when they look up symbols. It counts its calls itself.
 *
 *   cc -g -finstrument-functions -pthread -fno-builtin -o allocator allocator.c
 *
 * `malloc` and `calloc` call `carve`. It prints how often each was called, once everything else is done. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

static char pool[64 << 20] __attribute__((aligned(16)));
static size_t used;
static unsigned long mallocs, callocs, frees, carves;

__attribute__((noinline)) static void *carve(size_t size)
{
    __atomic_fetch_add(&carves, 1, __ATOMIC_RELAXED);
    size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
    if (at + size + 32 > sizeof pool) return NULL;
    *(size_t *)(pool + at) = size;
    return pool + at + 16;
}

void *malloc(size_t size)
{
    __atomic_fetch_add(&mallocs, 1, __ATOMIC_RELAXED);
    return carve(size);
}

void *calloc(size_t count, size_t size)
{
    __atomic_fetch_add(&callocs, 1, __ATOMIC_RELAXED);
    return carve(count * size); /* never used before */
}

void *realloc(void *old, size_t size)
{
    void *new = malloc(size);
    if (old && new) {
        size_t before = *(size_t *)((char *)old - 16);
        memcpy(new, old, before < size ? before : size);
    }
    return new;
}

void free(void *memory)
{
    (void)memory;
    __atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
}

static void *work(void *unused)
{
    for (int i = 0; i < 100; i++) free(malloc(10));
    return unused;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    dlsym(RTLD_DEFAULT, "no_such_symbol");
    dlerror();
    /* Without stdio, which allocates: these are the final counts. */
    char text[100];
    int length = snprintf(text, sizeof text, "%lu %lu %lu %lu\n", mallocs, callocs, frees, carves);
    if (write(1, text, (size_t)length) != length) return 1;
    return 0;
}
