# What benches/store.sh measured, of a file, and of a ClickHouse with as much and with more.
function thousands(value,    text) {
    text = sprintf("%d", value)
    while (match(text, /[0-9][0-9][0-9][0-9]($|,)/)) text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
    return text
}
FNR == 1 { file++; next }
{ number[file, $1] = $2; time[file, $1] = sprintf("%.0f / %.0f", $3, $4) }
END {
    printf "%-32s %13s %13s %13s\n", "", "SQLite", "ClickHouse", "ClickHouse"
    split("rows_put_in rows_per_second bytes_per_row compression writer_mb reader_mb", numbers, " ")
    split("rows of paths|put in, rows a second|bytes a row, all in all|compression, of paths|memory of who puts in, MB|memory of who asks, MB", words, "|")
    for (i = 1; i <= 6; i++) {
        printf "%-32s", words[i]
        for (f = 1; f <= 3; f++) printf " %13s", (f, numbers[i]) in number ? (number[f, numbers[i]] < 100 ? sprintf("%.1f", number[f, numbers[i]]) : thousands(number[f, numbers[i]])) : ""
        printf "\n"
    }
    split("one_profile one_host_all_time service_hour service_all_time service_by_build index_of_series", asked, " ")
    split("one host, one frame|one host, all times|a service, an hour|a service, all times|the same, by build|list of all series", names, "|")
    for (i = 1; i <= 6; i++) printf "%-32s %13s %13s %13s\n", names[i], time[1, asked[i]], time[2, asked[i]], time[3, asked[i]]
}
