# service-scale.tsv, then store-clickhouse-put.tsv: what a service took under simulated agents; and what that makes of ten thousand hosts, by
# multiplication, with the store in ClickHouse.
FNR == 1 { file++; next }
file == 1 && $1 ~ /^(frames|cpu_us_per_frame)$/ { tenth[$1, $2] = $3; next }
file == 1 { measured[$1, $2] = $3; next }
{ store[$1] = $2 }
function grouped(number,   text, rest) {
    text = sprintf("%.0f", number)
    while (length(text) > 3) { rest = "," substr(text, length(text) - 2) rest; text = substr(text, 1, length(text) - 3) }
    return text rest
}
function line(what, a, b) { printf "%-46s %18s%s\n", what, a, b == "" ? "" : sprintf(" %18s", b) }
END {
    for (part = 1; part <= 10; part++) { frames += tenth["frames", part]; cpu += tenth["frames", part] * tenth["cpu_us_per_frame", part] }
    each = cpu / frames
    paths = measured["paths_per_frame", "all"]; bytes = measured["bytes_per_frame", "all"]
    line("frames", grouped(frames))
    line("frames a second", grouped(measured["frames_per_second", "all"]))
    line("paths that changed, a frame", grouped(paths))
    line("bytes a frame, sent", grouped(bytes))
    line("bytes a path, sent", sprintf("%.1f", measured["bytes_per_path", "all"]))
    line("processor a frame, us", sprintf("%.0f", each))
    line("the same in the last tenth, beside the first", sprintf("%.3f", measured["cpu_last_over_first", "all"]))
    line("processors", sprintf("%.2f", measured["cpu_share", "all"]))
    line("memory, MB, in the end and at most", sprintf("%.0f", measured["rss_mb", "all"]), sprintf("%.0f", measured["peak_rss_mb", "all"]))
    line("refused, failed", grouped(measured["asked_to_come_again", "all"]), grouped(measured["failed", "all"]))
    line("from a reading to the event, ms, p50 and p99", sprintf("%.0f", measured["reading_to_event_ms", "p50"]), sprintf("%.0f", measured["reading_to_event_ms", "p99"]))
    line("store, MB", grouped(measured["store_mb", "all"]))
    print ""
    line("10,000 hosts with a recording each", "every 10 s", "four times a second")
    split("1000 40000", rates, " ")
    for (k = 1; k <= 2; k++) {
        rate = rates[k]
        frames_each[k] = grouped(rate)
        cores[k] = sprintf("%.1f", rate * each / 1e6)
        network[k] = sprintf("%.1f", rate * bytes / 1e6)
        rows[k] = grouped(rate * paths)
        shards[k] = sprintf("%.1f", rate * paths / store["rows_per_second"])
        disk[k] = sprintf("%.0f", rate * paths * store["bytes_per_row"] * 3600 / 1e9)
    }
    line("frames a second", frames_each[1], frames_each[2])
    line("processors of services", cores[1], cores[2])
    line("memory of services, GB", sprintf("%.1f", measured["rss_mb", "all"] / 1000 * 10), sprintf("%.1f", measured["rss_mb", "all"] / 1000 * 10))
    line("network to them, MB/s", network[1], network[2])
    line("rows a second into ClickHouse", rows[1], rows[2])
    line("shards of two processors for that", shards[1], shards[2])
    line("fine slices on their disks, GB an hour", disk[1], disk[2])
}
