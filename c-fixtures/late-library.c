/* A library with a destructor; see late.c. */
static volatile int sum;

__attribute__((noinline)) static void library_leaf(void) { sum++; }

void library_call(void) { library_leaf(); }

__attribute__((destructor)) static void library_ends(void) { library_leaf(); }
