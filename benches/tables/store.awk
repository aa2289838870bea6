# What benches/store.sh measured, of a file, and of a ClickHouse with as much and with more; put in and asked. -v beside=1: warm, cold
# and by hand, of three kinds of stores each; -v coarser=1: a file, and of slices of an hour.
function thousands(value,    text) {
    text = sprintf("%d", value)
    while (match(text, /[0-9][0-9][0-9][0-9]($|,)/)) text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
    return text
}
function ms(value) { return value + 0 < 9.5 ? sprintf("%.1f", value) : sprintf("%.0f", value) }
function times(first, count,    f, all) {
    for (f = first; f < first + count; f++) all = all (f > first ? " / " : "") ((f, asked[i]) in p95 ? ms(p95[f, asked[i]]) : "-")
    return all
}
FNR == 1 { file++; next }
{ number[file, $1] = $2; if ($4 != "") { p50[file, $1] = $3; p95[file, $1] = $4 } }
END {
    kinds = split("one_profile one_host_all_time service_hour service_all_time service_by_build top_functions flame_graph function_over_time diff_of_builds index_of_series index_of_range label_values profile_types", asked, " ")
    split("one host, one frame|one host, all times|a service, an hour|a service, all times|the same, by build|its functions, an hour|its flame graph, an hour|a function over time, an hour|two builds compared, an hour|list of all series|list of an hour's recordings|values of a label|types of sampled profiles", names, "|")
    if (beside) {
        printf "%-30s %17s %17s %17s\n%-30s %17s %17s %17s\n", "", "SQLite", "ClickHouse", "ClickHouse", "", "10,000,000", "10,000,000", "300,000,000"
        for (i = 1; i <= kinds; i++) printf "%-30s %17s %17s %17s\n", names[i], times(1, 3), times(4, 3), times(7, 3)
        exit
    }
    if (coarser) {
        printf "%-30s %17s %17s\n", "", "of 150 s", "of an hour"
        for (i = 2; i <= 5; i++) if (i != 3) printf "%-30s %17s %17s\n", names[i], ms(p50[1, asked[i]]) " / " ms(p95[1, asked[i]]), ms(p50[2, asked[i]]) " / " ms(p95[2, asked[i]])
        exit
    }
    # Of each store: what was put in, then what was asked.
    printf "%-32s %13s %13s %13s\n", "", "SQLite", "ClickHouse", "ClickHouse"
    split("rows_put_in rows_per_second bytes_per_row compression writer_mb reader_mb", numbers, " ")
    split("rows of paths|put in, rows a second|bytes a row, all in all|compression, of paths|memory of who puts in, MB|memory of who asks, MB", words, "|")
    for (i = 1; i <= 6; i++) {
        printf "%-32s", words[i]
        for (f = 1; f <= 5; f += 2) {
            at = (f, numbers[i]) in number ? f : f + 1
            printf " %13s", (at, numbers[i]) in number ? (number[at, numbers[i]] < 100 ? sprintf("%.1f", number[at, numbers[i]]) : thousands(number[at, numbers[i]])) : ""
        }
        printf "\n"
    }
    for (i = 1; i <= kinds; i++) {
        printf "%-32s", names[i]
        for (f = 2; f <= 6; f += 2) printf " %13s", ms(p50[f, asked[i]]) " / " ms(p95[f, asked[i]])
        printf "\n"
    }
}
