# From trust-refactored.tsv: what refactorings that change nothing are called.
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
    kind = $at["kind"]
    if (!(kind in all)) order[++kinds] = kind
    add(kind); add("all")
}
function add(name) { all[name]++; of[name, $at["verdict"]]++; load[name] += $at["comparison_load"]; alone[name] += $at["one_sided"] > 0 }
END {
    order[++kinds] = "all"
    printf "refactored:  %-10s %11s %6s %7s %11s %8s %23s\n", "kind", "comparisons", "load", "moved", "not called", "changed", "with names on one side"
    for (k = 1; k <= kinds; k++) {
        kind = order[k]
        if (all[kind]) printf "             %-10s %11d %6.1f %7d %11d %8d %23d\n", kind, all[kind], load[kind] / all[kind], of[kind, "moved"], of[kind, "not-called"], of[kind, "changed"], alone[kind]
    }
}
