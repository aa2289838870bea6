# Writes a C program that walks a call tree.
#   awk -v depth=8 -v functions=512 -v sites=4 -v breadth=2 -v cold=1 -f tree.awk >tree.c;  ./tree N   walks it N times
# depth      levels of calls below the walk's first function
# functions  how many there are at most, spread evenly over the levels below the first
# sites      calls that each function's code has, to functions of the next level
# breadth    how many of them one run of the function makes
# cold       1: which ones changes from run to run, so that all of the sites^depth paths are met, in no order;
#            0: always the first ones: breadth^depth paths, met in the same order over and over
# A walk makes 1 + breadth + breadth^2 + ... + breadth^depth calls.
function call(level, i, s) { return sprintf("sum += f%d_%d(x + %d);", level + 1, (i * sites + s) % width[level + 1], s) }

function body(level, i,   s) {
    printf "NOINLINE static int f%d_%d(int x) {\n", level, i
    if (level == depth) { printf "    return x + %d;\n}\n", i + 1; return }
    print "    int sum = 0;"
    if (cold) {
        printf "    for (unsigned i = 0, r = chance(); i < %d; i++, r /= %d)\n        switch (r %% %d) {\n", breadth, sites, sites
        for (s = 0; s < sites; s++) printf "        case %d: %s break;\n", s, call(level, i, s)
        print "        }"
    } else {
        for (s = 0; s < breadth; s++) printf "    %s\n", call(level, i, s)
        if (s < sites) print "    if (never) {"
        for (; s < sites; s++) printf "        %s\n%s", call(level, i, s), s == sites - 1 ? "    }\n" : ""
    }
    print "    return sum;\n}"
}

BEGIN {
    width[0] = 1
    for (level = 1; level <= depth; level++) {
        width[level] = int(functions / depth)
        if (width[level] > width[level - 1] * sites) width[level] = width[level - 1] * sites
        if (width[level] < 1) width[level] = 1
    }
    print "#include <stdio.h>\n#include <stdlib.h>\n"
    print "#define NOINLINE __attribute__((noinline))"
    if (cold) {
        print "static unsigned state = 1;"
        print "static inline __attribute__((always_inline, no_instrument_function)) unsigned chance(void) {"
        print "    return (state = state * 1664525 + 1013904223) >> 8;\n}\n"
    } else print "static volatile int never;"
    for (level = depth; level >= 0; level--) for (i = 0; i < width[level]; i++) body(level, i)
    print "\nint main(int argc, char **argv) {"
    print "    int n = argc > 1 ? atoi(argv[1]) : 1000;\n    volatile int sum = 0;"
    print "    for (int i = 0; i < n; i++) sum += f0_0(i);"
    print "    printf(\"%d\\n\", sum);\n    return 0;\n}"
}
