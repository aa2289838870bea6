# Programs that pages are made of, and where they are opened; needs `benches` and `repo`.

# 87,000 paths through 406 functions.
cold_tree() {
    awk -v depth=8 -v functions=512 -v sites=4 -v breadth=2 -v cold=1 -f "$benches/programs/tree.awk"
}

# So many functions, each called by one other.
functions() {
    awk -v count="$1" 'BEGIN {
        for (i = 0; i < count; i++) printf "static void work_of_part_%d(void);\n", i
        print "static volatile int sum;"
        for (i = 0; i < count; i++) {
            printf "static void work_of_part_%d(void) { for (int i = 0; i < %d; i++) sum++;", i, i * 7919 % 997
            for (below = 2 * i + 1; below <= 2 * i + 2 && below < count; below++) printf " work_of_part_%d();", below
            print " }"
        }
        print "int main(void) { for (int i = 0; i < 20; i++) work_of_part_0(); return 0; }"
    }'
}

# What machine and browser these are.
browser_machine() {
    awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo
    echo "$(nproc) processors, Linux $(uname -r), $("$CHROMIUM" --version 2>/dev/null | sed 's/ *$//'), without a graphics card; $(date -u '+%F %R') UTC; commit $(git -C "$repo" rev-parse --short HEAD); load average $(cut -d' ' -f1 /proc/loadavg)"
}
