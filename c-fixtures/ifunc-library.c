/* A library with a function that is chosen at its start, and one that uses it; see ifunc.c. */
int library_chosen(int n);

#ifdef USER
int library_use(int n) { return library_chosen(n) + 1; }
#else
static volatile int looks;

__attribute__((noinline)) static void library_look(void) { looks++; }

static int library_choice(int n) { return n * 10; }
static int other_choice(int n) { return n; }

static int (*resolve_library(void))(int)
{
    library_look();
    return looks ? library_choice : other_choice;
}

int library_chosen(int n) __attribute__((ifunc("resolve_library")));
#endif
