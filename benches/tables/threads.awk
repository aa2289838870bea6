# threads.tsv: what a thread's call costs beside another thread's, as a ratio to what it costs alone.
NR == 1 { columns(); next }
{
    c = $1; who = $2
    if (!(c in known)) { known[c]; contender[++contenders] = c }
    n = ++count[c, who]
    wall[c, who, n] = $(at["wall_ns"]); cpu[c, who, n] = $(at["cpu_ns"])
}
function ratio(measure, c, who, q,   i, v) {
    for (i = 1; i <= count[c, "alone"]; i++) v[i] = measure[c, who, i] / measure[c, "alone", i]
    return quantile(v, count[c, "alone"], q)
}
END {
    print "\nTwo threads at once: time of each beside one alone, medians of " count[contender[1], "alone"] " repeats"
    printf "%-14s %12s  %8s %15s %7s  %8s %15s %7s\n", "", "alone", "first", "(range)", "cpu", "second", "(range)", "cpu"
    for (k = 1; k <= contenders; k++) {
        c = contender[k]
        for (i = 1; i <= count[c, "alone"]; i++) alone[i] = wall[c, "alone", i]
        printf "%-14s %12s", c, seconds(median(alone, count[c, "alone"]))
        for (i = 1; i <= 2; i++) {
            who = i == 1 ? "first" : "second"
            printf "  %8.2f %7.2f - %5.2f %7.2f", ratio(wall, c, who, 0.5), ratio(wall, c, who, 0), ratio(wall, c, who, 1), ratio(cpu, c, who, 0.5)
        }
        print ""
    }
}
