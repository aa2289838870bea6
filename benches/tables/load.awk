# load.tsv: how long a program that does nothing runs, and how much longer than without a preload in the same round; with
# -v of_contender=CONTENDER only that, in ms.
NR == 1 { columns(); next }
{
    c = $1
    if (!(c in known)) { known[c]; contender[++contenders] = c }
    if ($2 + 1 > rounds) rounds = $2 + 1
    wall[c, $2] = $(at["wall_ns"])
    cpu[c, $2] = $(at["user_ns"]) + $(at["system_ns"])
}
function more(measure, c, q,   r, n, v) {
    for (r = 0; r < rounds; r++) if (((c, r) in measure) && (("empty", r) in measure)) v[++n] = (measure[c, r] - measure["empty", r]) / 1e6
    return number(quantile(v, n, q), "%.2f")
}
function of(measure, c,   r, n, v) {
    for (r = 0; r < rounds; r++) if ((c, r) in measure) v[++n] = measure[c, r] / 1e6
    return number(median(v, n), "%.2f")
}
END {
    if (of_contender) { print more(wall, of_contender, 0.5); exit }
    print "\npostgres --version from start to end, ms, medians of " rounds " rounds (in-root: DIYTRACE_ROOT=eval_windowaggregates)"
    line = "%-14s %8s  %16s %-14s  %8s  %16s %-14s\n"
    printf line, "", "wall", "more than empty", "(quartiles)", "cpu", "more than empty", "(quartiles)"
    for (k = 1; k <= contenders; k++) {
        c = contender[k]
        printf line, c, of(wall, c), more(wall, c, 0.5), more(wall, c, 0.25) ".." more(wall, c, 0.75),
            of(cpu, c), more(cpu, c, 0.5), more(cpu, c, 0.25) ".." more(cpu, c, 0.75)
    }
}
