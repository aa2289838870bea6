# speed.tsv as a table for each workload; with -v brief=1, of the columns that the documents show;
# with -v summary=1 in one table, a row for each workload; with -v figure=NAME,
# -v of_contender=CONTENDER and -v only=WORKLOAD one number of one row.
NR == 1 { columns(); next }
$2 == "sampled" { next } # a way to time calls that older recorders had
only != "" && $1 != only { next }
{
    w = $1; c = $2; r = $(at["round"])
    if (!((w) in calls)) { calls[w] = $(at["calls"]); workload[++workloads] = w }
    if (!((w, c) in known)) { known[w, c]; contender[w, ++contenders[w]] = c }
    if (r + 1 > rounds[w]) rounds[w] = r + 1
    wall[w, c, r] = $(at["wall_ns"])
    cpu[w, c, r] = $(at["user_ns"]) + $(at["system_ns"])
    memory[w, c, r] = $(at["max_rss_bytes"]); size[w, c, r] = $(at["written_bytes"])
    report[w, c, r] = $(at["report_ns"]); again[w, c, r] = $(at["report_again_ns"])
}

# Of the rounds that have it: the median of a measure, and of its ratio to another contender's in the same round.
function of(measure, w, c,   r, n, v) {
    for (r = 0; r < rounds[w]; r++) if (((w, c, r) in measure) && measure[w, c, r] != "-") v[++n] = measure[w, c, r]
    return median(v, n)
}
function ratio(measure, w, c, base, q,   r, n, v) {
    for (r = 0; r < rounds[w]; r++)
        if (((w, c, r) in measure) && ((w, base, r) in measure)) v[++n] = measure[w, c, r] / measure[w, base, r]
    return quantile(v, n, q)
}

function range(measure, w, c) {
    if (!((w, "floor") in known)) return ""
    return sprintf("%.2f-%.2f", ratio(measure, w, c, "floor", 0), ratio(measure, w, c, "floor", 1))
}

function nanoseconds(w, c) { return number(of(wall, w, c) / calls[w], "%.1f") }

# One number: calls, ns, written, or x-CONTENDER, a ratio.
function one(w, c,   base) {
    if (figure == "calls") return grouped(calls[w])
    if (figure == "ns") return nanoseconds(w, c)
    if (figure == "written") return bytes(of(size, w, c))
    base = substr(figure, 3)
    return number(ratio(wall, w, c, base, 0.5), "%.2f")
}

END {
    if (figure) { print one(only, of_contender); exit }
    if (summary) {
        row = "%-10s %11s %7s %7s %7s %9s %14s %9s\n"
        printf row, "ns a call", "calls", "empty", "floor", "timed", "x floor", "outside roots", "written"
        for (i = 1; i <= workloads; i++) {
            w = workload[i]
            printf row, w, grouped(calls[w]), nanoseconds(w, "empty"), nanoseconds(w, "floor"), nanoseconds(w, "recorded"),
                number(ratio(wall, w, "recorded", "floor", 0.5), "%.2f"), nanoseconds(w, "outside-roots"),
                bytes(of(size, w, "recorded"))
        }
        exit
    }
    line = "%-14s %8s %8s  %7s  %7s %-12s %7s %-12s %9s  %8s %8s  %8s %8s\n"
    short = "%-14s %8s  %7s  %7s %-12s %9s  %8s\n"
    for (i = 1; i <= workloads; i++) {
        w = workload[i]
        printf "\n%s: %s calls, medians of %d rounds\n", w, grouped(calls[w]), rounds[w]
        if (brief) printf short, "", "ns/call", "x empty", "x floor", "(range)", "x uftrace", "written"
        else printf line, "", "ns/call", "cpu", "x empty", "x floor", "(range)", "cpu", "(range)", "x uftrace", "written", "memory", "report", "again"
        for (k = 1; k <= contenders[w]; k++) {
            c = contender[w, k]
            if (brief) {
                printf short, c, number(of(wall, w, c) / calls[w], "%.1f"), number(ratio(wall, w, c, "empty", 0.5), "%.2f"),
                    number(ratio(wall, w, c, "floor", 0.5), "%.2f"), range(wall, w, c),
                    number(ratio(wall, w, c, "uftrace", 0.5), "%.2f"), bytes(of(size, w, c))
                continue
            }
            printf line, c, number(of(wall, w, c) / calls[w], "%.1f"), number(of(cpu, w, c) / calls[w], "%.1f"),
                number(ratio(wall, w, c, "empty", 0.5), "%.2f"),
                number(ratio(wall, w, c, "floor", 0.5), "%.2f"), range(wall, w, c),
                number(ratio(cpu, w, c, "floor", 0.5), "%.2f"), range(cpu, w, c),
                number(ratio(wall, w, c, "uftrace", 0.5), "%.2f"),
                bytes(of(size, w, c)), bytes(of(memory, w, c)), seconds(of(report, w, c)), seconds(of(again, w, c))
        }
    }
}
