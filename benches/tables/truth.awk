# truth.tsv: the reported time of each workload's root beside its true one; with -v brief=1 the columns that the documents
# show (with -v of_contender=CONTENDER its rows only); with -v figure=NAME, -v only=WORKLOAD and -v of_contender=CONTENDER one number of one row.
NR == 1 { columns(); next }
$2 == "sampled" { next } # a way to time calls that older recorders had
{
    k = $1 SUBSEP $2
    if (!(k in count)) kind[++kinds] = k
    n = ++count[k]
    calls[k] = $(at["calls"])
    t = ($(at["before_wall_ns"]) + $(at["after_wall_ns"])) / 2
    truth[k, n] = t
    raw[k, n] = $(at["total_raw_ns"]); corrected[k, n] = $(at["total_ns"]); stated[k, n] = $(at["total_error_ns"])
    error[k, n] = 100 * (corrected[k, n] / t - 1)
    claimed[k, n] = $(at["overhead_ns"])
    covered[k] += reaches(corrected[k, n] - t, stated[k, n])
    # The same without the time that others had the processor, which the outer clocks tell. The recorder leaves out the
    # time of its own rare work, so of the others' time the report has only its part.
    t = ($(at["before_cpu_ns"]) + $(at["after_cpu_ns"])) / 2
    others = $(at["recorded_wall_ns"]) - $(at["recorded_cpu_ns"])
    own = corrected[k, n] - others * raw[k, n] / $(at["recorded_wall_ns"])
    own_error[k, n] = 100 * (own / t - 1)
    own_covered[k] += reaches(own - t, stated[k, n])
    cost[k, n] = ($(at["recorded_cpu_ns"]) - t) / calls[k]
    # A run is disturbed when the machine gave the processor to others for over 2% of the time of any of its three clocks.
    disturbed[k] += is_disturbed("before") || is_disturbed("after") || is_disturbed("recorded")
}
function reaches(off, error) { return off <= error && -off <= error }
function is_disturbed(which) { return $(at[which "_wall_ns"]) > 1.02 * $(at[which "_cpu_ns"]) }
function of(measure, k, q,   i, v) {
    for (i = 1; i <= count[k]; i++) v[i] = measure[k, i]
    return quantile(v, count[k], q)
}
function range(measure, k) { return sprintf("%+.1f..%+.1f", of(measure, k, 0), of(measure, k, 1)) }
# Runs whose stated error reaches the truth, and all runs, of every row.
function all_covered(   k, sum, runs) { for (k in count) { sum += covered[k]; runs += count[k] }; return sum " of " runs }
function all_disturbed(   k, sum, runs) { for (k in count) { sum += disturbed[k]; runs += count[k] }; return sum " of " runs }
function one(k) {
    if (figure == "all-covered") return all_covered()
    if (figure == "all-disturbed") return all_disturbed()
    if (figure == "covered") return covered[k] " of " count[k]
    if (figure == "error") return sprintf("%+.1f%%", of(error, k, 0.5))
    if (figure == "range") return sprintf("%+.1f to %+.1f%%", of(error, k, 0), of(error, k, 1))
    if (figure == "stated-percent") return sprintf("%.0f%%", 100 * of(stated, k, 0.5) / of(truth, k, 0.5))
    if (figure == "runs") return count[k]
}

END {
    if (figure) { print one(only SUBSEP of_contender); exit }
    if (brief) {
        line = "%-10s %-9s %9s %9s %9s %9s  %7s %-14s %8s\n"
        printf line, "", "", "true", "raw", "corrected", "stated", "error %", "(range)", "covered"
        for (i = 1; i <= kinds; i++) {
            k = kind[i]
            split(k, name, SUBSEP)
            if (of_contender && of_contender != name[2]) continue
            printf line, name[1], name[2], seconds(of(truth, k, 0.5)), seconds(of(raw, k, 0.5)), seconds(of(corrected, k, 0.5)),
                seconds(of(stated, k, 0.5)), sprintf("%+.1f", of(error, k, 0.5)), range(error, k), covered[k] "/" count[k]
        }
        exit
    }
    print "\nTrue time of the root, and what reports say: medians; errors in % of the true time"
    line = "%-10s %-9s %9s %9s %9s %8s  %7s %-14s %8s  %7s %-14s %8s  %7s %7s  %9s\n"
    printf line, "", "", "true", "raw", "corrected", "stated", "error", "(range)", "covered", "on cpu", "(range)", "covered", "a call", "stated", "disturbed"
    for (i = 1; i <= kinds; i++) {
        k = kind[i]
        split(k, name, SUBSEP)
        printf line, name[1], name[2],
            seconds(of(truth, k, 0.5)), seconds(of(raw, k, 0.5)), seconds(of(corrected, k, 0.5)), seconds(of(stated, k, 0.5)),
            sprintf("%+.1f", of(error, k, 0.5)), range(error, k), covered[k] "/" count[k],
            sprintf("%+.1f", of(own_error, k, 0.5)), range(own_error, k), own_covered[k] "/" count[k],
            sprintf("%.1f", of(cost, k, 0.5)), sprintf("%.1f", of(claimed, k, 0.5)), disturbed[k] "/" count[k]
    }
}
