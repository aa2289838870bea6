// A change in one function of a program, chosen when it is compiled. lib/planted.sh includes it before Lua's lmemfind(), which
// looks for one string in another, begins the function with PLANTED_START, and has its caller call it by PLANTED_CALL;
// lib/others.sh does so in other programs.
//   -DPLANTED_TURNS=N    slower by N turns of an empty loop
//   -DPLANTED_CALLS      called once more at each hundredth call
//   -DPLANTED_INLINED    inlined into its caller, without hooks
//   -DPLANTED_RECURSIVE  calls itself once more in each call, and there finds nothing in nothing; Lua's only
#define PLANTED_SILENT __attribute__((always_inline, no_instrument_function)) inline

#ifdef PLANTED_INLINED
#define PLANTED_KIND PLANTED_SILENT
#else
#define PLANTED_KIND __attribute__((noinline))
#endif

#ifndef PLANTED_TURNS
#define PLANTED_TURNS 0
#endif

// A constant of the code, as long whatever N is, so that all else lies where it lay: where code lies alone moved this
// function by 3 to 4%.
static PLANTED_SILENT void planted_spin(void) {
    long turns;
#ifdef __x86_64__
    __asm__ volatile("movq %1, %0" : "=r"(turns) : "i"(PLANTED_TURNS));
#else
    __asm__ volatile("" : "=r"(turns) : "0"((long)PLANTED_TURNS));
#endif
    while (turns-- > 0) __asm__ volatile("");
}

#ifdef PLANTED_RECURSIVE
#define PLANTED_START(text, length, word) \
    if (length > 0) (void)lmemfind(text, 0, word, 1);
#else
#define PLANTED_START(...) planted_spin();
#endif

#ifdef PLANTED_CALLS
static int planted_count;
#define PLANTED_CALL(function, ...) \
    (++planted_count % 100 == 0 ? (void)function(__VA_ARGS__) : (void)0, function(__VA_ARGS__))
#else
#define PLANTED_CALL(function, ...) function(__VA_ARGS__)
#endif
