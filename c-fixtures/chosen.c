/* A function with several implementations, one of which is chosen when the program starts (IFUNC).
 *
 *   cc -g -finstrument-functions -o chosen chosen.c */

static volatile int sum;

__attribute__((no_instrument_function)) static int returns_true(void) { return 1; }

static void leaf(void) { sum++; }

static void fast(void) { leaf(); }

static void slow(void)
{
    leaf();
    leaf();
}

__attribute__((no_instrument_function)) static void (*choose(void))(void) { return returns_true() ? fast : slow; }

void chosen(void) __attribute__((ifunc("choose")));

int main(void)
{
    for (int i = 0; i < 3; i++) chosen();
    leaf();
    return 0;
}
