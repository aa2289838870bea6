# Is the corrected time true? The same instrumented program runs by turns without a preload, where a clock in code without
# hooks times its root (tools/clock.c, tools/postgres_clock.c), and recorded, where a report tells the root's time.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run.sh

truth_columns=(workload contender run calls
               before_wall_ns before_cpu_ns       # the root's own time without a preload, just before
               after_wall_ns after_cpu_ns         # and just after
               recorded_wall_ns recorded_cpu_ns   # with the recorder, by the same clock
               total_raw_ns total_ns total_error_ns overhead_ns) # what the report says

bench_truth() {
    local workload
    tsv_header truth "${truth_columns[@]}"
    for workload in "${workloads[@]}"; do
        say "truth: $workload"
        [[ $workload != redis ]] || continue # its time is the load's
        if [[ $workload = postgres ]]; then
            with_postgres truth_of_postgres || true
        else
            prepare_workload "$workload" || continue
            truth_runs "$workload" run_program_clocked
        fi
    done
    "$benches/summary.sh" truth "$results"
}

# Those contenders whose report has corrected times of everything.
truth_contenders() {
    local name
    for name in recorded in-root; do ! is_contender "$name" || echo "$name"; done
}

# truth_runs WORKLOAD RUNNER: RUNNER CONTENDER leaves the clock's lines in $work/clock and the profile in $out.
truth_runs() {
    local run contender before recorded after
    for contender in $(truth_contenders); do
        before=$(clocked "$2" empty) || { say "$1 does not run"; return; }
        for ((run = 0; run < runs; run++)); do
            recorded=$(clocked "$2" "$contender") || { say "$1 does not run under $contender"; break; }
            use_contender "$contender"
            "${reporter[@]}" --root "$root" --format json >"$work/report.json" || break
            after=$(clocked "$2" empty)
            tsv_row truth "$1" "$contender" "$run" "$(reported calls)" "$before" "$after" "$recorded" \
                "$(reported_of_root total_raw_ns)" "$(reported_of_root total_ns)" "$(reported_of_root total_error_ns)" \
                "$(awk -v a="$(reported inner_ns)" -v b="$(reported outer_ns)" 'BEGIN { print a + b }')"
            before=$after
        done
    done
    rm -rf "$out"
}

# clocked RUNNER CONTENDER: runs it; the sums of the clock's lines, wall and processor time.
clocked() {
    rm -f "$work/clock/time"
    "$1" "$2" >&2 || return
    awk '{ wall += $1; cpu += $2 } END { if (!NR) exit 1; printf "%.0f\t%.0f\n", wall, cpu }' "$work/clock/time"
}

run_program_clocked() {
    mkdir -p "$work/clock"
    BENCH_CLOCK=$work/clock/time run_once "$1"
}

# The first number of that name in the report, which is the whole's; and the first from the root on, which is the root's.
reported() { first_number "$1" <"$work/report.json"; }
reported_of_root() { sed -n '/"root": true/,$p' "$work/report.json" | first_number "$1"; }
first_number() { awk -F'[:,]' -v name="\"$1\"" '$1 ~ name && !found++ { gsub(/ /, "", $2); print $2 }'; }

truth_of_postgres() {
    fresh_folder "$work/clock"
    # Readable by the server's user, like everything in the work folder.
    cc -O2 -w -shared -fPIC -I"$("$folder/install/bin/pg_config" --includedir-server)" "$benches/tools/postgres_clock.c" \
        -o "$work/postgres_clock.so" || { say "no truth of postgres: its module could not be built"; return; }
    load_table >&2
    echo "shared_preload_libraries = '$work/postgres_clock'" >>"$folder/data/postgresql.conf"
    truth_runs postgres run_postgres_clocked
}

run_postgres_clocked() {
    start_contender "$1" BENCH_CLOCK="$work/clock/time" && sql -o /dev/null <<<"$postgres_queries" || return
    stop_server
}
