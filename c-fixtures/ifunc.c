/* Functions that are chosen when the program is put together at its start: their resolvers are instrumented, and run before
 * any constructor, and some of them before the preloaded libraries have been made ready to run.
 *
 *   cc -g -finstrument-functions -shared -fPIC -o libchoice.so ifunc-library.c
 *   cc -g -finstrument-functions -shared -fPIC -DUSER -o libuser.so ifunc-library.c -L. -lchoice -Wl,-z,now -Wl,-rpath,'$ORIGIN'
 *   cc -g -finstrument-functions -o ifunc ifunc.c -L. -luser -Wl,-rpath,'$ORIGIN'
 *
 * main calls `chosen`, which is `first_choice`, twice; its resolver calls `look`. main calls `library_use` of one library three
 * times, which calls `library_choice` of another, chosen as the first is loaded; that resolver calls `library_look`. */
#include <stdio.h>

int library_use(int n);

static volatile int looks;

__attribute__((noinline)) static void look(void) { looks++; }

static int first_choice(int n) { return n + 1; }
static int second_choice(int n) { return n - 1; }

static int (*resolve_chosen(void))(int)
{
    look();
    return looks ? first_choice : second_choice;
}

int chosen(int n) __attribute__((ifunc("resolve_chosen")));

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 2; i++) sum += chosen(i);
    for (int i = 0; i < 3; i++) sum += library_use(i);
    printf("%d\n", sum);
    return 0;
}
