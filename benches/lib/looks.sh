# Simulated comparisons whose runs are added until all is decided: how often anything is called changed that is not, and what is found.
# shellcheck shell=bash disable=SC2154 # variables of trust.sh

bench_looks() {
    cargo run --quiet --release --manifest-path "$benches/../Cargo.toml" -p diytrace-compare --example looks >"$results/trust-looks.tsv"
    show_looks
}

show_looks() { awk -F'\t' -f "$benches/tables/looks.awk" "$results/trust-looks.tsv"; }
