# Three costs that are not a call's: of a second thread, of a child's first call, of loading the library.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run.sh

# Those that the question makes sense for.
single_contenders() {
    local name
    for name in "$@"; do ! is_contender "$name" || echo "$name"; done
}

# ---- two threads -------------------------------------------------------------------------------------------------

bench_threads() {
    local contender
    say "threads: one alone, two at once"
    (($(nproc) > 1)) || { say "threads are left out: there is one processor"; return 0; }
    tsv_header threads contender who wall_ns cpu_ns
    program=$work/threads root=together
    build_single threads -fno-inline -fno-optimize-sibling-calls -pthread
    for contender in $(single_contenders empty floor recorded counts-only uftrace); do
        run_single "$contender" 30 "$rounds" | sed "s/^/$contender\t/" >>"$results/threads.tsv"
    done
    "$benches/summary.sh" threads "$results"
}

# ---- a child's first call ----------------------------------------------------------------------------------------

bench_child() {
    local contender
    say "child: its first recorded call"
    tsv_header child contender first_ns second_ns
    program=$work/child root=serve
    build_single child
    for contender in $(single_contenders empty floor recorded in-root outside-roots counts-only uftrace); do
        run_single "$contender" 500 | sed "s/^/$contender\t/" >>"$results/child.tsv"
    done
    "$benches/summary.sh" child "$results"
}

# build_single NAME FLAGS...: what these do not instrument says so in the source.
build_single() {
    cc -O2 -g -w -finstrument-functions "${@:2}" "$benches/programs/$1.c" -o "$program.hooks"
}

run_single() {
    use_contender "$1"
    fresh_out
    (cd "$out" && env "${settings[@]}" "${launcher[@]}" "$program.hooks" "${@:2}" 2>"$work/stderr") ||
        say "$(basename "$program") fails under $1: $(tail -n 1 "$work/stderr")"
}

# ---- loading -----------------------------------------------------------------------------------------------------

load_runs=50

# A program of 40 MB that does nothing: what it takes longer with the library is what loading the library takes.
bench_load() {
    [[ -z $quick ]] || return 0
    say "load: postgres --version"
    tsv_header load contender run wall_ns user_ns system_ns max_rss_bytes
    with_postgres load_rounds || true
    "$benches/summary.sh" load "$results"
}

load_rounds() {
    local run contender
    root=eval_windowaggregates
    arguments=(--version)
    for ((run = 0; run < load_runs; run++)); do
        for contender in $(single_contenders empty floor recorded in-root paused); do
            use_contender "$contender"
            fresh_out
            rm -f "$work/measured"
            "$work/measure" "$work/measured" "${settings[@]}" -- "$program" --version >/dev/null || return
            tsv_row load "$contender" "$run" "$(cat "$work/measured")"
        done
    done
}
