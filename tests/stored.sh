#!/usr/bin/env bash
# Recordings of real programs, put into stores: every view of what is selected there must be that of the recordings, to the byte.
#
#   tests/stored.sh [PROGRAM]...    postgres, redis, cppcheck, sqlite, lua: all of them as a rule
#   FOLDER=DIR tests/stored.sh …    keeps recordings, stores, and what differs in DIR (default: target/stored)
#
# It builds each program from the distribution's source package with hooks, as benches/run.sh does, and where that does
# (DIYTRACE_BENCH_CACHE); the first run takes long. Each program is recorded twice, and both recordings are put in: into SQLite, a
# ClickHouse, which npm has, and under labels of two hosts. Then both stores are asked for what the recordings are asked for: reports
# as JSON, CSV and tables by every column, trees, callers, annotated sources, and all exports; and for one host, and each host and
# build by itself. `export pprof` of recordings tells threads apart, and stores do not, so it is asked for without (`--by all`).
# It goes through all views, and ends with 1 if any differed.
# shellcheck disable=SC2034,SC2154 # the parts share variables
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
benches=$repo/benches
for part in options tools contenders packages workloads speed postgres redis clickhouse; do
    # shellcheck source=/dev/null
    . "$benches/lib/$part.sh"
done
say() { printf 'stored.sh: %s\n' "$*" >&2; }

all_programs=(postgres redis cppcheck sqlite lua)
contenders=() rounds=0
sorts=(calls total self mean p50 p90 p99 max name)
exports=(flamegraph folded pprof callgrind speedscope firefox dot html)

# recorded NAME N: where its recording of that number goes.
recorded() { echo "$folder/$1-$2"; }

# Two recordings of a program. `program` is what was recorded.
record() { # NAME
    local nth
    rm -rf "$(recorded "$1" 1)" "$(recorded "$1" 2)"
    case $1 in
    postgres) recorded_in=$folder with_postgres record_postgres ;;
    redis)
        build_redis
        for nth in 1 2; do
            fresh_out
            redis_load=(-q -n "$((nth * 500))" -r 1000 -c 5 -t set,get,lpush,zadd,lrange_100)
            use_contender recorded
            under_redis_load >/dev/null
            mv "$out/profile" "$(recorded redis "$nth")"
        done ;;
    *)
        prepare_workload "$1"
        case $1 in
        cppcheck) arguments=(--quiet "$benches/programs/fib.c") ;; # hundreds of thousands of paths all the same
        sqlite) arguments=(--memdb --size 2 --testset main) ;;
        lua) arguments=("$benches/programs/search.lua") ;;
        esac
        for nth in 1 2; do
            "$work/diytrace" record --out "$(recorded "$1" "$nth")" -- "$program.hooks" "${arguments[@]}" >/dev/null 2>"$work/stderr" ||
                fail "$1 fails: $(tail -n 1 "$work/stderr")"
        done ;;
    esac
}

record_postgres() {
    local nth
    rows=2000
    load_table >&2
    for nth in 1 2; do
        fresh_folder "$folder/profile"
        start_server env LD_PRELOAD="$work/libdiytrace.so" DIYTRACE_OUT="$folder/profile"
        sql -o /dev/null <<<"$postgres_queries"
        stop_server
        cp -r "$folder/profile" "$recorded_in/postgres-$nth"
    done
}

# told WHAT COMMAND...: the digest of what a command answers, which goes to $folder/WHAT where it is small; and how it ends.
told() {
    local status=0
    "$work/diytrace" "${@:2}" >"$folder/told/$1" 2>"$folder/told/$1.said" || status=$?
    # Where something was read from is another matter.
    sed -i "s#$store_of_clickhouse#STORE#g; s#$store_of_sqlite#STORE#g" "$folder/told/$1.said"
    echo "$status $(sha256sum <"$folder/told/$1" | cut -c1-16) $(sha256sum <"$folder/told/$1.said" | cut -c1-16)"
}

# same VIEW...: of a file, of SQLite and of ClickHouse: `recordings` and `selection` say what of.
same() {
    local file sqlite clickhouse of_file=("$@")
    if [[ ${*:1:2} == "export pprof" ]]; then of_file+=(--by all); fi
    views=$((views + 1))
    file=$(told file "${of_file[@]}" "${recordings[@]}")
    sqlite=$(told sqlite "$@" --store "$store_of_sqlite" --select "$selection")
    clickhouse=$(told clickhouse "$@" --store "$store_of_clickhouse" --select "$selection")
    if [[ $file != 0\ * ]]; then differs "$@"; say "  it fails: $(head -n 1 "$folder/told/file.said")"; fi
    if [[ $file != "$sqlite" ]]; then differs "$@"; say "  SQLite tells something else"; fi
    if [[ $file != "$clickhouse" ]]; then differs "$@"; say "  ClickHouse tells something else"; fi
}

# stores_agree VIEW...: what recordings cannot be asked for.
stores_agree() {
    local sqlite clickhouse
    views=$((views + 1))
    sqlite=$(told sqlite "$@" --store "$store_of_sqlite")
    clickhouse=$(told clickhouse "$@" --store "$store_of_clickhouse")
    if [[ $sqlite != 0\ * || $sqlite != "$clickhouse" ]]; then differs "$@"; fi
}

differs() {
    different=$((different + 1))
    say "DIFFERS: diytrace $* ($name, $selection)"
    mkdir -p "$folder/different"
    cp "$folder"/told/* "$folder/different/" # the last one
}

compare() { # NAME
    local name=$1 sort format view functions function
    local service=$1
    [[ -z ${program:-} ]] || service=$(basename "$program.hooks")
    [[ $1 != postgres ]] || service=postgres
    recordings=("$(recorded "$1" 1)" "$(recorded "$1" 2)") selection=service=$service
    same report --format json
    same report --format csv
    same report --columns calls,open,unwound,total,error,self,mean,min,p50,p90,p99,max,processes,call,source --histogram
    for sort in "${sorts[@]}"; do same report --sort "$sort" --limit 50; done
    same tree --format json
    same tree
    # The functions of the most self time, and the one that is called most.
    mapfile -t functions < <("$work/diytrace" report --format json "${recordings[@]}" 2>/dev/null |
        jq -r '.reports[0].functions | (sort_by(-.self_ns)[:2] + sort_by(-.calls)[:1])[].name' | sort -u)
    for function in "${functions[@]}"; do
        same callers "$function" --format json
        same callers "$function"
        same annotate "$function" --format json
    done
    for format in "${exports[@]}"; do same export "$format"; done
    # One host is one recording.
    recordings=("$(recorded "$1" 2)") selection=service=$service,host=second
    same report --format json
    same tree --format json
    same export pprof
    selection=service=$service
    for view in host build; do
        stores_agree report --by "$view" --format json --select "$selection"
        stores_agree report --by "$view" --sort self --limit 20 --select "$selection"
    done
    # And each of them is that recording's calls.
    local of_store of_files
    of_store=$("$work/diytrace" report --by host --format json --store "$store_of_clickhouse" --select "$selection" 2>/dev/null | jq -c '[.reports[].calls]')
    of_files=$(for nth in 1 2; do "$work/diytrace" report --format json "$(recorded "$1" "$nth")" 2>/dev/null | jq .reports[0].calls; done | jq -sc .)
    [[ $of_store == "$of_files" ]] || { differs report --by host; say "  calls are $of_store, not $of_files"; }
}

for tool in cargo cc c++ curl jq make npm pgrep; do
    command -v "$tool" >/dev/null || fail "missing: $tool"
done
programs=("$@")
((${#programs[@]})) || programs=("${all_programs[@]}")
for name in "${programs[@]}"; do known program "$name" "${all_programs[@]}"; done
umask 022 # PostgreSQL's server is another user
make_work
choose_cache
build_tools
"$work/diytrace" --version >&2
target=$(dirname "$(dirname "$(cd "$repo" && cargo metadata --format-version 1 --no-deps | jq -r .target_directory)/release/x")")
mkdir -p "${FOLDER:-$target/stored}"
folder=$(cd "${FOLDER:-$target/stored}" && pwd)
export DIYTRACE_CACHE="$work/cache"
rm -rf "$folder/told" "$folder/different" "$folder/store.db"* && mkdir -p "$folder/told"
trap 'stop_clickhouse; rm -rf "$work"' EXIT
start_clickhouse "$work/engine"
store_of_sqlite=$folder/store.db store_of_clickhouse=clickhouse://127.0.0.1:$clickhouse_port/real
views=0 different=0
for name in "${programs[@]}"; do
    program=''
    say "recording $name"
    record "$name"
    for store in "$store_of_sqlite" "$store_of_clickhouse"; do
        "$work/diytrace" push --store "$store" --label host=first "$(recorded "$name" 1)"
        "$work/diytrace" push --store "$store" --label host=second "$(recorded "$name" 2)"
    done
    before=$views
    compare "$name"
    say "$name: $((views - before)) views compared, $different of all $views different so far"
done
stores_agree report --by service --format json
((different == 0)) || fail "$different comparisons differ; the last is in $folder/different"
say "$views views of ${#programs[@]} programs are the same of recordings, SQLite and ClickHouse"
