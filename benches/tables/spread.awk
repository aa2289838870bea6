# From trust-spread.tsv: Lua whose runs are spread over ten layouts a side, against itself and with sort_comp() made dearer.
NR == 1 { next }
{
    name = $1
    if (!(name in all)) order[++names] = name
    all[name]++; tested[name] += $5; load[name] += $4; fails[name] += $3
    of_function[name] += $6 ~ /^ *sort_comp *$/; changed[name] += $6 != "-"; same[name] += $7 != "-"
}
END {
    printf "layouts: %-11s %11s %6s %8s %16s %16s %22s %7s\n", "right side", "comparisons", "load", "tested", "only sort_comp", "any changed", "same code, other cost", "exit 1"
    for (k = 1; k <= names; k++) {
        name = order[k]
        printf "         %-11s %11d %6.1f %8d %16d %16d %22d %7d\n", name, all[name], load[name] / all[name], tested[name], of_function[name], changed[name], same[name], fails[name]
    }
}
