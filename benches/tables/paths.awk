# paths.tsv: what a call costs, and a path takes, by how many call paths there are; then the same as a plot, ns a call above empty hooks.
NR == 1 { columns(); next }
{
    n = $(at["paths"]); c = $(at["contender"])
    if (only && n != only) next
    if (!(n in made)) { sized[++numbers] = n; made[n] = $(at["calls"]) }
    if (!(c in known)) { known[c]; contender[++contenders] = c }
    rounds = ++count[n, c]
    wall[n, c, rounds] = $(at["wall_ns"])
    written[n, c] = $(at["written_bytes"]); memory[n, c] = $(at["max_rss_bytes"])
    if ($(at["misses"]) != "-") misses[n, c] = $(at["misses"])
}
function median_of(n, c,   i, v) {
    for (i = 1; i <= count[n, c]; i++) v[i] = wall[n, c, i]
    return quantile(v, count[n, c], 0.5)
}
function bar(length_of,   text, i) {
    for (i = 0; i < length_of; i++) text = text "#"
    return text
}
END {
    printf "\n%-12s %13s  %-9s %8s %9s %12s %12s %11s\n", "paths", "calls", "", "ns/call", "x floor", "bytes/path", "misses/call", "memory"
    for (k = 1; k <= numbers; k++) {
        n = sized[k]
        for (j = 1; j <= contenders; j++) {
            c = contender[j]
            if (!count[n, c]) continue
            each = median_of(n, c) / made[n]
            floor_each = count[n, "floor"] ? median_of(n, "floor") / made[n] : 0
            if (each > most) most = each
            cost[n, c] = each
            printf "%-12s %13s  %-9s %8.1f %9s %12s %12s %8.0f MB\n", j == 1 ? n : "", j == 1 ? made[n] : "", c, each, \
                floor_each && c != "empty" ? sprintf("%.2f", each / floor_each) : "", c == "recorded" || c == "bounded" || c == "uftrace" ? sprintf("%.0f", written[n, c] / n) : "", \
                (n, c) in misses ? sprintf("%.3f", misses[n, c] / made[n]) : "-", memory[n, c] / 1e6
        }
    }
    if (only) exit
    print "\nns a call"
    for (k = 1; k <= numbers; k++)
        for (j = 1; j <= contenders; j++)
            if ((sized[k], contender[j]) in cost)
                printf "%10s  %-9s %s %.0f\n", j == 1 ? sized[k] : "", contender[j], bar(int(50 * cost[sized[k], contender[j]] / most + 0.5)), cost[sized[k], contender[j]]
}
