/* Calls behind the recorder's own end: handlers and destructors that run after it, of the program and of libraries, and in
 * a child forked there.
 *
 *   cc -g -finstrument-functions -shared -fPIC -o liblate.so late-library.c
 *   cc -g -finstrument-functions -o late late.c -L. -llate -Wl,-rpath,'$ORIGIN'
 *
 * main registers `at_exit`, and so does the first constructor; each calls `leaf` twice. The program's destructor calls
 * `leaf`, forks a child that calls it three times, and the library's destructor calls its own `library_leaf` once in each. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void library_call(void);

static volatile int sum;

__attribute__((noinline)) static void leaf(void) { sum++; }

static void at_exit(void)
{
    leaf();
    leaf();
}

__attribute__((constructor(101))) static void program_starts(void) { atexit(at_exit); }

__attribute__((destructor(101))) static void program_ends(void)
{
    leaf();
    if (fork() == 0) {
        for (int i = 0; i < 3; i++) leaf();
        return;
    }
    wait(NULL);
}

int main(void)
{
    atexit(at_exit);
    library_call();
    return 0;
}
