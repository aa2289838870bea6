# From trust-planted.tsv: how often a planted change is found, and what else is named.
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
    name = $at["change"]
    if (!(name in times)) order[++names] = name
    difference[name, ++times[name]] = $at["difference"]
    load[name] += $at["load"]
    found[name] += $at["is_found"]
    unconfirmed[name] += $at["verdict"] == "unconfirmed"
    callers[name] += $at["callers_after"]
    before[name] += $at["others_before"]; after[name] += $at["others_after"]
}
function median(name,   n, i, j, t, list) {
    n = times[name]
    for (i = 1; i <= n; i++) list[i] = difference[name, i] * 100
    for (i = 2; i <= n; i++) { t = list[i]; for (j = i - 1; j > 0 && list[j] > t; j--) list[j + 1] = list[j]; list[j + 1] = t }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
END {
    width = 10
    for (k = 1; k <= names; k++) if (length(order[k]) > width) width = length(order[k])
    printf "A/B: %-" width "s %11s %6s %14s %6s %12s %8s %24s\n", "planted", "comparisons", "load", "median of D", "found", "unconfirmed", "callers", "others before and after"
    for (k = 1; k <= names; k++) {
        name = order[k]
        printf "     %-" width "s %11d %6.1f %13.1f%% %6d %12d %8d %15d %8d\n", name, times[name], load[name] / times[name], median(name),
            found[name], unconfirmed[name], callers[name], before[name], after[name]
    }
}
