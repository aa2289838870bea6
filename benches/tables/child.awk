# child.tsv: what a forked child's first and second call cost; with -v of_contender=CONTENDER only the first's median.
NR == 1 { columns(); next }
{
    c = $1
    if (!(c in known)) { known[c]; contender[++contenders] = c }
    n = ++count[c]
    first[c, n] = $(at["first_ns"]); second[c, n] = $(at["second_ns"])
}
function of(measure, c, q,   i, v) {
    for (i = 1; i <= count[c]; i++) v[i] = measure[c, i]
    return quantile(v, count[c], q)
}
END {
    if (of_contender) { print seconds(of(first, of_contender, 0.5)); exit }
    print "\nThe first call of a forked child, " count[contender[1]] " children"
    printf "%-14s %12s %12s  %12s\n", "", "median", "p90", "second call"
    for (k = 1; k <= contenders; k++) {
        c = contender[k]
        printf "%-14s %12s %12s  %12s\n", c, seconds(of(first, c, 0.5)), seconds(of(first, c, 0.9)), seconds(of(second, c, 0.5))
    }
}
