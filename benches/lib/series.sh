# Simulated series where the truth is known: false alarms and power of each test, and whether R finds the same p-values.
# shellcheck shell=bash disable=SC2154 # variables of trust.sh

bench_series() {
    local example=(cargo run --quiet --manifest-path "$benches/../Cargo.toml" -p diytrace-compare --example series)
    "${example[@]}" >"$results/trust-series.tsv"
    if command -v Rscript >/dev/null; then
        "${example[@]}" -- 50 | Rscript "$benches/tools/series.R" >"$results/trust-series-r.tsv"
    else
        say "p-values are not held against R's: it is not installed"
    fi
    show_series
}

show_series() {
    awk -F'\t' '{ printf "%-8s%-22s %13s %21s %13s %10s %16s\n", NR == 1 ? "series:" : "", $1, $2, $4, $5, $6, $7 }' "$results/trust-series.tsv"
    [[ ! -e $results/trust-series-r.tsv ]] || column -t -s $'\t' "$results/trust-series-r.tsv"
}
