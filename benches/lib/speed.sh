# What a call costs under each contender: rounds in which all of them run in turn, one line of speed.tsv each.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

speed_columns=(workload contender round calls wall_ns user_ns system_ns max_rss_bytes written_bytes report_ns report_again_ns)

bench_speed() {
    local workload
    tsv_header speed "${speed_columns[@]}"
    for workload in "${workloads[@]}"; do
        say "speed: $workload"
        if [[ $workload = postgres || $workload = redis ]]; then
            "speed_of_$workload" || true
        else
            prepare_workload "$workload" || continue
            speed_of_program "$workload"
        fi
        "$benches/summary.sh" speed "$results" "$workload"
    done
}

# speed_of_program WORKLOAD
speed_of_program() {
    local calls round contender failed=" "
    calls=$(count_calls) || { say "$1 does not run: $(tail -n 1 "$work/stderr")"; return; }
    for ((round = 0; round < rounds; round++)); do
        for contender in "${contenders[@]}"; do
            [[ $failed != *" $contender "* ]] || continue
            if ! run_once "$contender"; then
                say "$1 fails under $contender, which is left out: $(tail -n 1 "$work/stderr")"
                failed+="$contender "
                continue
            fi
            speed_row "$1" "$contender" "$round" "$calls" "$(cat "$work/measured")"
        done
    done
    rm -rf "$out"
}

# speed_row WORKLOAD CONTENDER ROUND CALLS MEASURED: with what the run has left in $out.
speed_row() {
    local size
    size=$(written) # before reports leave anything there
    reports "$1" "$2"
    tsv_row speed "$@" "$size" "$report_times"
}

# run_once CONTENDER: runs the program in $out; what it took is in $work/measured.
run_once() {
    use_contender "$1"
    fresh_out
    rm -f "$work/measured"
    (cd "$out" && exec "$work/measure" "$work/measured" "${settings[@]}" -- \
        "${launcher[@]}" "$program.$variant" "${arguments[@]}" >/dev/null 2>"$work/stderr")
}

# The instrumented program's calls, counted by hooks that do nothing else.
count_calls() {
    rm -f "$work/count"
    BENCH_COUNT=$work/count LD_PRELOAD=$work/libcount.so "$program.hooks" "${arguments[@]}" >/dev/null 2>"$work/stderr" || return
    awk '{ sum += $1 } END { printf "%d\n", sum }' "$work/count"
}

# reports WORKLOAD CONTENDER: leaves in report_times the time of two reports in a row. One that takes long is made once only, or it would take longer than all the rest.
slow_reports=" "
reports() {
    local long=5000000000 first again=- # ns
    if ((${#reporter[@]} == 0)) || [[ $slow_reports == *" $1 $2 "* ]]; then report_times=$'-\t-'; return; fi
    first=$(timed "${reporter[@]}")
    if [[ $first = - ]] || ((first > long)); then slow_reports+=" $1 $2 "; else again=$(timed "${reporter[@]}"); fi
    report_times=$first$'\t'$again
}
