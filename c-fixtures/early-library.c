/* The library of early.c, which has the compile lines. */
static volatile int sum;

static void library_leaf(void) { sum++; }

__attribute__((constructor)) static void library_starts(void)
{
    library_leaf();
    library_leaf();
}

__attribute__((destructor)) static void library_ends(void) { library_leaf(); }

void library_call(void) { library_leaf(); }
