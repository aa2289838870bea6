# From trust-aa.tsv (or trust-layout.tsv: title=layout key=layout): false positives of a program against itself, in percent of the
# functions tested.
BEGIN { if (!title) { title = "A/A"; key = "program" } }
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
    name = $at[key]
    if (!(name in times)) order[++names] = name
    for (n = 0; n < 2; n++) add(n ? name : "all")
}
function add(name) {
    times[name]++
    load[name] += $at["load"]
    tested[name] += $at["tested"]; functions[name] += $at["functions"]
    before[name] += $at["before_time"] + $at["before_calls"] + $at["before_one_sided"]
    after[name] += $at["after_time"] + $at["after_calls"] + $at["after_one_sided"]
    metrics[name] += $at["metrics"]; metrics_before[name] += $at["metrics_before"]; metrics_after[name] += $at["metrics_after"]
    says[name] += $at["says_changed"]
}
function percent(part, whole) { return whole ? sprintf("%.3f%%", part / whole * 100) : "-" }
END {
    order[++names] = "all"
    printf "%-6s %-8s %11s %6s %10s %20s %20s %16s %12s\n", title ":", key, "comparisons", "load", "tested", "called changed", "after confirmation", "metrics", "said changed"
    for (k = 1; k <= names; k++) {
        name = order[k]
        printf "       %-8s %11d %6.1f %10d %11d %8s %11d %8s %9d of %4d %5d of %3d\n", name, times[name], load[name] / times[name],
            tested[name], before[name], percent(before[name], tested[name]), after[name], percent(after[name], tested[name]),
            metrics_after[name], metrics[name], says[name], times[name]
    }
}
