# What benches/load.sh measured: -v kind=max|http2|late|stall|workers|faults gives a table, -v figure=NAME a number for a sentence.
function half_of(values, count,    i, j, t) {
    for (i = 2; i <= count; i++) { t = values[i]; for (j = i - 1; j >= 1 && values[j] > t; j--) values[j + 1] = values[j]; values[j + 1] = t }
    return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
}
function middle(key,    one, count) { # of all that was noted under a key
    count = 0
    for (one = 1; one <= n[key]; one++) picked[++count] = all[key, one]
    return half_of(picked, count)
}
function note(key, value) { all[key, ++n[key]] = value }
function thousands(value,    text) {
    text = sprintf("%d", value)
    while (match(text, /[0-9][0-9][0-9][0-9]($|,)/)) text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
    return text
}
function ms(ns) { return sprintf("%.3f ms", ns / 1e6) }

FNR == 1 { next }
kind == "max" || kind == "http2" { sub(/_http2$/, "", $2); note($2 " rate", $4); note($2 " cpu", $6) }
kind == "late" { note($2 " p50", $4); note($2 " p99", $5); if ($5 > most[$2]) most[$2] = $5; if ($5 <= 1e6) in_time[$2]++ }
kind == "stall" { true_ms[$2] = $3; note($2 " plan", $4); note($2 " send", $6); if ($8 != "") note($2 " wrk2", $8) }
kind == "workers" { note($2 " achieved", $6); rounds[$2]++; sent[$2] += $4; if ($4 == $5) equal[$2]++ }
kind == "faults" { runs[$1]++; planted[$1] = $7; if ($4 == $7) named[$1]++; if ($4 != $7 && $4 != "-") other[$1]++ }

END {
    if (figure == "ratio") { printf "%.2f\n", middle("diytrace cpu") / middle("wrk cpu"); exit }
    if (kind == "max" || kind == "http2") {
        printf "%-10s %12s %20s\n", "client", "requests/s", "for a second of cpu"
        count = split("wrk h2load oha diytrace", order, " ")
        for (i = 1; i <= count; i++) if (n[order[i] " rate"]) printf "%-10s %12s %20s\n", order[i], thousands(middle(order[i] " rate")), thousands(middle(order[i] " cpu"))
    }
    if (kind == "late") {
        printf "%-10s %10s %10s %10s %16s\n", "offered/s", "p50", "p99", "worst p99", "p99 below 1 ms"
        split("100 1000 20000", order, " ")
        for (i = 1; i <= 3; i++) {
            rate = order[i]
            printf "%-10s %10s %10s %10s %16s\n", thousands(rate), ms(middle(rate " p50")), ms(middle(rate " p99")), ms(most[rate]), in_time[rate] + 0 " of " n[rate " p99"]
        }
    }
    if (kind == "stall") {
        has_wrk2 = n["p90 wrk2"]
        printf "%-10s %10s %10s %10s%s\n", "", "true", "from plan", "from send", has_wrk2 ? sprintf(" %10s", "wrk2") : ""
        split("p90 p95 p99", order, " ")
        for (i = 1; i <= 3; i++) printf "%-10s %7.0f ms %7.1f ms %7.1f ms%s\n", order[i], true_ms[order[i]], middle(order[i] " plan"), middle(order[i] " send"), n[order[i] " wrk2"] ? sprintf(" %7.1f ms", middle(order[i] " wrk2")) : has_wrk2 ? sprintf(" %10s", "not told") : ""
    }
    if (kind == "workers") {
        printf "%-10s %12s %12s %22s\n", "offered/s", "achieved/s", "sent", "as in the access log"
        split("1000 10000", order, " ")
        for (i = 1; i <= 2; i++) printf "%-10s %12s %12s %22s\n", thousands(order[i]), thousands(middle(order[i] " achieved")), thousands(sent[order[i]]), equal[order[i]] + 0 " of " rounds[order[i]]
    }
    if (kind == "faults") {
        printf "%-10s %-14s %12s %14s\n", "fault", "planted in", "named", "another named"
        count = split("none lock list cache pause storm leak", order, " ")
        for (i = 1; i <= count; i++) {
            fault = order[i]
            if (!runs[fault]) continue
            right = fault == "none" ? "" : named[fault] + 0 " of " runs[fault]
            printf "%-10s %-14s %12s %14s\n", fault, fault == "none" ? "" : planted[fault], right, other[fault] + 0 " of " runs[fault]
        }
    }
}
