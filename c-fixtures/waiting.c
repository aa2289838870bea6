/* Does what it is told, a letter at a time, and answers each when it is done: `d` goes one call deeper and stays there,
 * `u` goes up again, `w` works, `f` forks a child that reads on while its parent waits for it, `q` ends.
 *
 *   cc -g -finstrument-functions -o waiting waiting.c */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function, noinline))

static volatile int sum;

UNSEEN static char next(void)
{
    char told = 'q';
    if (read(0, &told, 1) < 1) return 'q';
    return told;
}

UNSEEN static void answer(void)
{
    if (write(1, ".", 1) != 1) abort();
}

APART static void leaf(void) { sum++; }
APART static void work(void) { leaf(); }
APART static void wait_here(int depth);

APART static void wait_deeper(int depth) { wait_here(depth); sum++; }

APART static void wait_here(int depth)
{
    if (depth) answer();
    for (;;) {
        char told = next();
        switch (told) {
        case 'd': wait_deeper(depth + 1); break; /* answered down there; what led back here is answered below */
        case 'w': work(); break;
        case 'f': {
            pid_t child = fork();
            if (child == 0) break;
            waitpid(child, NULL, 0);
            _exit(0);
        }
        case 'u': if (depth) { sum++; return; } break;
        default: exit(0);
        }
        answer();
    }
}

int main(void)
{
    wait_here(0);
    return 0;
}
