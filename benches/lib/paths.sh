# How cost grows with the number of call paths: programs/paths.c, until it has met so many, and again under each contender.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run.sh

path_numbers=(1000 10000 100000 1000000 10000000 50000000)
path_contenders=(empty floor recorded bounded full-tree bounded-tree uftrace)
bounded=256M
bounded_contexts=$(((256 << 20) / 44)) # a node of tools/contexts.c, and its place

bench_paths() {
    local number contender calls paths memory
    memory=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
    cc -O2 -w -DCOUNTED "$benches/programs/paths.c" -o "$work/paths.counted"
    cc -O2 -g -w -finstrument-functions "$benches/programs/paths.c" -o "$work/paths.hooks"
    cc -O2 -shared -fPIC "$benches/tools/contexts.c" -o "$work/libcontexts.so"
    program=$work/paths root=main
    tsv_header paths paths calls contender round wall_ns cpu_ns misses written_bytes max_rss_bytes
    tsv_header covered paths contender hot_paths found whole most_calls_missing
    tsv_header path-readers paths contender reader wall_ns cpu_ns max_rss_bytes
    for number in "${path_numbers[@]}"; do
        [[ -z $quick ]] || ((number <= 100000)) || continue
        # What it takes to count them, and what a recording of them takes, with its index and its file in the page cache.
        ((number / 1024 * 512 / 1024 < memory)) || { say "paths: $number are left out, as there is no memory for them"; continue; }
        say "paths: $number"
        "$work/paths.counted" "-$number" "$work/paths.log" || { say "paths: $number could not be counted"; continue; }
        IFS=$'\t' read -r calls paths <"$work/paths.log"
        arguments=("$calls")
        for contender in "${path_contenders[@]}"; do
            paths_under "$contender" "$paths" "$calls"
        done
        "$benches/summary.sh" paths "$results" "$paths"
    done
    rm -rf "$out" "$work"/paths.*
}

# paths_under CONTENDER PATHS CALLS: of what is over in a blink there are many rounds, of what takes minutes there is one.
paths_under() {
    local round size times=3
    (($3 < 100000000)) || times=1
    (($3 > 10000000)) || times=$rounds
    case $1 in
    bounded) use_diytrace DIYTRACE_MEMORY=$bounded ;;
    recorded) use_diytrace DIYTRACE_MEMORY=16G ;;
    full-tree) use_contexts ;;
    bounded-tree) use_contexts CONTEXTS_COUNTED="$bounded_contexts" ;;
    uftrace)
        # It writes each call, which nobody waits for where there are a hundred million.
        is_installed uftrace && (($3 <= 20000000)) || return 0
        use_contender uftrace ;;
    *) use_contender "$1" ;;
    esac
    for ((round = 0; round < times; round++)); do
        fresh_out
        rm -f "$work/measured"
        (cd "$out" && exec "$work/measure" "$work/measured" "${settings[@]}" -- "${launcher[@]}" "$work/paths.hooks" "$3" \
            >/dev/null 2>"$work/stderr") || { say "paths: $2 fail under $1: $(tail -n 1 "$work/stderr")"; return; }
        size=$(written)
        awk -F'\t' -v OFS='\t' -v n="$2" -v calls="$3" -v who="$1" -v round="$round" -v size="$size" -v misses="$(misses "$1" "$3" "$round")" \
            '{ print n, calls, who, round, $1, $2 + $3, misses, size, $4 }' "$work/measured" >>"$results/paths.tsv"
    done
    case $1 in
    recorded | bounded) read_paths "$1" "$2" ;;
    full-tree | bounded-tree) contexts | covered "$1" "$2" ;;
    esac
}

# Calling context trees as they are published, by tools/contexts.c.
use_contexts() {
    use_contender empty
    settings=(LD_PRELOAD="$work/libcontexts.so" CONTEXTS_LOG="$work/paths.contexts" "$@")
}

# What it has counted, with the functions' names.
contexts() {
    nm "$work/paths.hooks" | awk -v OFS=, '
        NR == FNR { sub(/^0+/, "", $1); name[$1] = $3; next }
        FNR == 1 { FS = ","; print "node", "parent", "name", "calls"; next }
        { print $1, $2, name[$3], $4 }' - "$work/paths.contexts"
}

# misses CONTENDER CALLS ROUND: of the processor's caches, where it counts them for us; "-" where it does not.
misses() {
    (($3 == 0)) && command -v perf >/dev/null || { echo -; return; }
    (cd "$(mktemp -d "$work/misses.XXXXXX")" && env "${settings[@]}" DIYTRACE_OUT="$PWD/profile" \
        perf stat -x, -e cache-misses:u -o counted "$work/paths.hooks" "$2" >/dev/null 2>&1 || true
        touch counted
        awk -F, '/cache-misses/ { found = $1 } END { print (found + 0 > 0 ? found : "-") }' counted)
    rm -rf "$work"/misses.*
}

# read_paths CONTENDER PATHS: how much of the hot paths is there, and what each reader takes.
read_paths() {
    local reader least
    for reader in 'report' 'report' 'tree' 'export flamegraph' 'export speedscope' 'export html' 'export pprof'; do
        rm -f "$work/read"
        # shellcheck disable=SC2086 # a reader is a command and its options
        (cd "$out" && exec "$work/measure" "$work/read" DIYTRACE_CACHE="$out/cache" -- "$work/diytrace" $reader "$out/profile" \
            >"$work/paths.read" 2>"$work/stderr") || { say "paths: $reader fails: $(tail -n 1 "$work/stderr")"; continue; }
        awk -F'\t' -v OFS='\t' -v n="$2" -v who="$1" -v reader="$reader" '{ print n, who, reader, $1, $2 + $3, $4 }' "$work/read" \
            >>"$results/path-readers.tsv"
    done
    # Each path with at least one in 100,000 of the calls, by the exact log and by the profile: of millions those with some time.
    (($2 > 2000000)) && least=0.00005 || least=0
    (cd "$out" && "$work/diytrace" tree --sort calls --min-percent "$least" --format csv "$out/profile" 2>/dev/null) | covered "$1" "$2"
}

# covered CONTENDER PATHS: holds a table of paths against the exact log.
covered() {
    awk -v OFS='\t' -v log_file="$work/paths.log" -v who="$1" -v n="$2" -f "$benches/tables/covered_paths.awk" >>"$results/covered.tsv"
}
