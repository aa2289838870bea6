# What ninja reads: so many edges, with long paths that have something to take out.
BEGIN {
    print "cflags = -O2 -Wall\nrule cc\n  command = cc $cflags $extra -c $in -o $out\n  description = CC $out\nrule link\n  command = cc $in -o $out\n"
    for (i = 0; i < edges; i++) {
        folder = sprintf("source/component%d/./library%d/../implementation%d/platform/linux/architecture/x86_64/generated/code%d/include/internal/detail", i % 40, i % 7, i % 11, i % 97)
        folder = folder "/." folder
        printf "build out/%s/file%d.o: cc %s/file%d.c | %s/file%d.h include/common/config.h\n  extra = -I%s -DNUMBER=%d\n", folder, i, folder, i, folder, i, folder, i
    }
}
