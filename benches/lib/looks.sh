# Simulated comparisons whose runs are added until all is decided: how often anything is called changed that is not, and what is found.
# shellcheck shell=bash disable=SC2154 # variables of trust.sh

bench_looks() {
    cargo run --quiet --release --manifest-path "$benches/../Cargo.toml" -p diytrace-compare --example looks >"$results/trust-looks.tsv"
    show_looks
}

show_looks() {
    awk -F'\t' '
        NR == 1 { printf "%-7s%-14s %-10s %6s %12s %8s %18s %23s %10s\n", "looks:", "series", "runs", "shift", "comparisons", "found", "with false alarms", "functions, false alarms", "mean runs"; next }
        { printf "%-7s%-14s %-10s %5s%% %12d %7.1f%% %17.2f%% %22.4f%% %10.1f\n", "", $1, $2, $3, $4, $5, $6, $7, $8 }' "$results/trust-looks.tsv"
}
