#!/usr/bin/env bash
# What recording costs a call, beside the least that timing can cost and beside uftrace where it is installed.
#
#   benches/run.sh [ROUNDS]      (default 9)
#
# All contenders run in turn in each round, so a machine that changes its speed changes it for all of them; the table
# gives medians, and the spread of the ratio to the floor over the rounds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-9}
target=${CARGO_TARGET_DIR:-$here/../target}
[[ $target = /* ]] || target=$here/../$target
library=$target/release/libdiytrace.so
cargo build --release --quiet --manifest-path "$here/../Cargo.toml" -p diytrace-cdylib

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DIYTRACE_OUT=$work/profile
flags=(-O2 -fno-inline -fno-optimize-sibling-calls -w)
cc -O2 -shared -fPIC "$here/floor.c" -o "$work/libfloor.so"
for name in fib tree; do
    cc "${flags[@]}" "$here/$name.c" -o "$work/$name.plain"
    cc "${flags[@]}" -finstrument-functions "$here/$name.c" -o "$work/$name"
done

contenders=(plain empty floor recorded "in a root" "outside roots" paused)
command -v uftrace >/dev/null && contenders+=(uftrace)

# Runs a contender once; nanoseconds of its wall time.
once() {
    local contender=$1 program=$2 size=$3 run=("$work/$2" "$3") start end
    local preload="" root="" paused=0
    case $contender in
    plain) run=("$work/$program.plain" "$size") ;;
    empty) ;;
    floor) preload=$work/libfloor.so ;;
    recorded) preload=$library ;;
    "in a root") preload=$library root=main ;;
    "outside roots") preload=$library root=no_such_function ;;
    paused) preload=$library paused=1 ;;
    uftrace) run=(uftrace record --no-libcall -d "$work/uftrace.data" "${run[@]}") ;;
    esac
    start=$(date +%s%N)
    LD_PRELOAD=$preload DIYTRACE_ROOT=$root DIYTRACE_PAUSED=$paused "${run[@]}" >/dev/null 2>&1
    end=$(date +%s%N)
    rm -rf "$DIYTRACE_OUT" "$work/uftrace.data"
    echo $((end - start))
}

for workload in "fib 32" "tree 500000"; do
    read -r program size <<<"$workload"
    calls=$("$work/$program" "$size" | awk '{print $2}')
    for ((round = 0; round < rounds; round++)); do
        for contender in "${contenders[@]}"; do
            printf '%d\t%s\t%d\n' "$round" "$contender" "$(once "$contender" "$program" "$size")"
        done
    done >"$work/times"
    printf '\n%s: %d calls, medians of %d rounds\n' "$workload" "$calls" "$rounds"
    awk -F'\t' -v calls="$calls" '
        function median(values, n,   i, j, t) {
            for (i = 2; i <= n; i++) { t = values[i]; for (j = i - 1; j > 0 && values[j] > t; j--) values[j + 1] = values[j]; values[j + 1] = t }
            return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
        }
        { if (!($2 in seen)) { order[++kinds] = $2; seen[$2] }; time[$2, $1] = $3; if ($1 > last) last = $1 }
        END {
            printf "%-15s %10s %12s %24s\n", "", "ns/call", "x floor", "(range of the rounds)"
            for (k = 1; k <= kinds; k++) {
                name = order[k]; low = 1e9; high = 0
                for (r = 0; r <= last; r++) {
                    t[r + 1] = time[name, r]
                    q[r + 1] = time[name, r] / time["floor", r]
                    if (q[r + 1] < low) low = q[r + 1]
                    if (q[r + 1] > high) high = q[r + 1]
                }
                printf "%-15s %10.1f %12.2f %15.2f - %.2f\n", name, median(t, last + 1) / calls, median(q, last + 1), low, high
            }
        }' "$work/times"
done
