/* 262,144 call paths of nine levels of functions, each of which calls one of four. numbered_path(n) meets the one with that
 * number. The last function of each does AT_THE_END. Included by fixtures that need many paths, one after the other. */
#ifndef AT_THE_END
#define AT_THE_END
#endif

enum { PATHS = 1 << 18 };

static volatile int sum;

#define PATH_BELOW(level)                           \
    switch (n & 3) {                                \
    case 0: level##_0(n >> 2); break;               \
    case 1: level##_1(n >> 2); break;               \
    case 2: level##_2(n >> 2); break;               \
    default: level##_3(n >> 2);                     \
    }                                               \
    sum++;
#define PATH_FUNCTION(level, which, next) \
    __attribute__((noinline)) static void level##_##which(unsigned n) { sum += which + (int)n; next }
#define PATH_LEVEL(level, next)                                       \
    PATH_FUNCTION(level, 0, next) PATH_FUNCTION(level, 1, next)       \
    PATH_FUNCTION(level, 2, next) PATH_FUNCTION(level, 3, next)

PATH_LEVEL(nine, AT_THE_END)
PATH_LEVEL(eight, PATH_BELOW(nine))
PATH_LEVEL(seven, PATH_BELOW(eight))
PATH_LEVEL(six, PATH_BELOW(seven))
PATH_LEVEL(five, PATH_BELOW(six))
PATH_LEVEL(four, PATH_BELOW(five))
PATH_LEVEL(three, PATH_BELOW(four))
PATH_LEVEL(two, PATH_BELOW(three))
PATH_LEVEL(one, PATH_BELOW(two))

__attribute__((noinline, no_instrument_function)) static void numbered_path(unsigned n) { PATH_BELOW(one) }
