# Simulated courses over builds where the truth is known: how often `history` finds a step, and where none is.
# shellcheck shell=bash disable=SC2154 # variables of trust.sh

bench_steps() {
    cargo run --quiet --manifest-path "$benches/../Cargo.toml" -p diytrace-compare --example steps >"$results/trust-steps.tsv"
    show_steps
}

show_steps() { awk -F'\t' -f "$benches/tables/steps.awk" "$results/trust-steps.tsv"; }
