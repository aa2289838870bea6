/* Hooks that fire before the recorder's constructor has run, and after its destructor.
 *
 *   cc -g -finstrument-functions -shared -fPIC -o libearly.so early-library.c
 *   cc -g -finstrument-functions -o early early.c -L. -learly -Wl,-rpath,'$ORIGIN'
 *
 * `first_of_all` runs before every constructor and calls `leaf` once; the library's constructor calls its own leaf twice;
 * the program's constructor calls `leaf` once; main calls the library once; both have destructors, with one leaf each. */
void library_call(void);

static volatile int sum;

static void leaf(void) { sum++; }

static void first_of_all(void) { leaf(); }
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = first_of_all;

__attribute__((constructor)) static void program_starts(void) { leaf(); }
__attribute__((destructor)) static void program_ends(void) { leaf(); }

int main(void)
{
    library_call();
    return 0;
}
