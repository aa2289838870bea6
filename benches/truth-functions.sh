#!/usr/bin/env bash
# Whether the times of functions are true: beside what functions that burn known times (c-fixtures/spins.c) say of
# themselves, what the report of the same run says of them.
#
#   benches/truth-functions.sh [ROUNDS]      (default 7)
#
# Bars, for the median of the rounds: self times within 5% from 200 ns a call up, and within 10 ns a call below;
# percentiles within what the report says of them: 3.2%, the correction's error, and what two readings of the counter are apart. Exit
# status 1 if one is not kept.
# Whatever interrupts a hook counts as the function's time, so the machine must be quiet; else TRUTH_RUN="chrt -f 1"
# keeps others off for a second a round.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-7}
target=${CARGO_TARGET_DIR:-$here/../target}
[[ $target = /* ]] || target=$here/../$target
cargo build --release --quiet --manifest-path "$here/../Cargo.toml" --workspace

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DIYTRACE_CACHE=$work/cache
cc -O2 -g -finstrument-functions "$here/../c-fixtures/spins.c" -o "$work/spins"

for ((round = 0; round < rounds; round++)); do
    rm -rf "$work/profile"
    # shellcheck disable=SC2086 # a command and its options
    LD_PRELOAD=$target/release/libdiytrace.so DIYTRACE_OUT=$work/profile ${TRUTH_RUN:-} "$work/spins" >"$work/truth"
    "$target/release/diytrace" report --format csv "$work/profile" >"$work/report"
    awk -F'\t' -v round="$round" '
        NR == FNR { for (i = 1; i <= NF; i++) truth[$1, i] = $i; if (NF > 2) order[++functions] = $1; next }
        FNR == 1 { split($0, names, ","); for (i in names) at[names[i]] = i; next }
        { split($0, f, ","); name = f[at["name"]]
          for (column in at) found[name, column] = f[at[column]] }
        END {
            split("min_ns p50_ns p90_ns p99_ns p999_ns max_ns", spread, " ")
            for (k = 1; k <= functions; k++) {
                name = order[k]; calls = truth[name, 2]
                if (found[name, "calls"] != calls) { printf "%s: %d calls, expected %d\n", name, found[name, "calls"], calls > "/dev/stderr"; exit 1 }
                error = found[name, "total_error_ns"] / calls
                line = sprintf("%d\t%d\t%s\t%d\t%f\t%f\t%f", round, k, name, calls, truth[name, 3] / calls, found[name, "self_ns"] / calls, error)
                line = line "\t" truth["step", 2]
                for (s = 2; s <= 4; s++) line = line "\t" (truth[name, 4] == "" ? "\t" : truth[name, 3 + s] "\t" found[name, spread[s]])
                print line
            }
        }' "$work/truth" FS=, "$work/report" >>"$work/rounds"
done

printf 'medians of %d rounds, ns a call; ± is what the report states of the total\n' "$rounds"
awk -F'\t' '
    function median(values, n,   i, j, t) {
        for (i = 2; i <= n; i++) { t = values[i]; for (j = i - 1; j > 0 && values[j] > t; j--) values[j + 1] = values[j]; values[j + 1] = t }
        return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
    }
    function abs(x) { return x < 0 ? -x : x }
    # The median over the rounds of a column, or of how far it is from the one before it.
    function over(k, column, is_off,   r) {
        for (r = 0; r <= last; r++) list[r + 1] = value[k, r, column] - (is_off ? value[k, r, column - 1] : 0)
        return median(list, last + 1)
    }
    { for (i = 4; i <= NF; i++) value[$2, $1, i] = $i; name[$2] = $3; if ($1 > last) last = $1; if ($2 > functions) functions = $2 }
    END {
        printf "%-13s %8s %11s %11s %8s %8s %7s   %s\n", "", "calls", "true self", "found", "off", "", "±", "percentiles off: p50, p90, p99"
        for (k = 1; k <= functions; k++) {
            self = over(k, 5); off = over(k, 6, 1); error = over(k, 7)
            is_off = self >= 200 ? abs(off) > 0.05 * self : abs(off) > 10
            line = sprintf("%-13s %8d %11.1f %11.1f %+8.1f %+7.1f%% %7.1f%s", name[k], value[k, 0, 4], self, over(k, 6), off, off / self * 100, error, is_off ? " !" : "  ")
            for (s = 0; s < 3 && value[k, 0, 9] != ""; s++) {
                at = over(k, 9 + 2 * s); off = over(k, 10 + 2 * s, 1)
                is_far = abs(off) > 0.032 * at + error + over(k, 8)
                line = line sprintf(" %+7.1f%s", off, is_far ? "!" : " ")
                outside += is_far
            }
            outside += is_off
            print line
        }
        printf outside ? "%d outside their bars (marked !)\n" : "all within their bars\n", outside
        exit outside > 0
    }' "$work/rounds"
