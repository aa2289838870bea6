/* A parent without hooks that forks a worker for each byte that it reads, waits for its end, and answers by a byte.
 *
 *   cc -g -finstrument-functions -o parent-without-hooks parent-without-hooks.c
 *
 * A worker calls `work` a hundred times. */
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void work(void) { __asm__ volatile(""); }

__attribute__((no_instrument_function)) int main(void)
{
    char order;
    while (read(0, &order, 1) == 1) {
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < 100; i++) work();
            _exit(0);
        }
        if (child < 0 || waitpid(child, NULL, 0) != child || write(1, &order, 1) != 1) return 1;
    }
    return 0;
}
