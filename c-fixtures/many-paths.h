/* A tree of calls with 2^12 paths: level_0 is called once, and each level twice by the one above, from two places. There
 * are 8191 calls and as many paths. Included by fixtures that need a profile to grow. */
static volatile int leaves;

static void level_12(void) { leaves++; }
#define LEVEL(n, below)                                                                                                \
    static void level_##n(void)                                                                                        \
    {                                                                                                                  \
        level_##below();                                                                                               \
        level_##below();                                                                                               \
    }
LEVEL(11, 12) LEVEL(10, 11) LEVEL(9, 10) LEVEL(8, 9) LEVEL(7, 8) LEVEL(6, 7)
LEVEL(5, 6) LEVEL(4, 5) LEVEL(3, 4) LEVEL(2, 3) LEVEL(1, 2) LEVEL(0, 1)
