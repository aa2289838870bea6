# One source in two layouts: Lua against itself with its code moved on, or its object files linked in another order. Nothing
# of the program has changed; but code that lies elsewhere is another's neighbour in the caches and predictors.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of trust.sh, and results in variables

bench_layout() {
    local number
    get_source_package lua lua5.4 || return 0
    begin_table trust-layout layout comparison load functions tested before_time before_calls before_one_sided after_time \
        after_calls after_one_sided metrics metrics_before metrics_after says_changed launcher
    begin_table trust-layout-claims layout comparison "${claim_columns[@]}"
    build_planted base || { refuse "Lua could not be built: see $work/build.log"; return 0; }
    local arguments="'$benches/programs/bench.lua' 0.5"
    for ((number = $(done_of_all trust-layout) + 1; number <= layouts; number++)); do
        link_layout "$number" || { refuse "Lua could not be linked: see $work/build.log"; return 0; }
        compare "'$work/planted/base' $arguments" "'$work/planted/layout' $arguments"
        claims | sed "s/^/$layout\t$number\t/" >>"$results/trust-layout-claims.tsv"
        tsv_row trust-layout "$layout" "$number" "$(load_now)" "$(counts)" "$says_changed" "${prefix:--}"
    done
    show_layout
}

# link_layout N: $work/planted/layout, whose code lies 16 bytes further on than that of layout N - 2, or is in an order drawn by
# N; sets `layout`.
link_layout() {
    local pad=$work/planted/pad objects=("$work"/planted/o/*.o "$work/planted/base.o")
    if (($1 % 2)); then
        layout=moved
        printf '.text\n.p2align 4\n.skip %d, 0x90\n.section .note.GNU-stack,"",@progbits\n' "$(((1 + $1 / 2) * 16))" >"$pad.s"
        cc -c "$pad.s" -o "$pad.o" && objects=("$pad.o" "${objects[@]}")
    else
        layout=ordered
        mapfile -t objects < <(printf '%s\n' "${objects[@]}" | shuf --random-source=<(yes "$1"))
    fi
    cc "${objects[@]}" -lm -o "$work/planted/layout"
} 2>>"$work/build.log"

done_of_all() { awk 'NR > 1 { n++ } END { print n + 0 }' "$results/$1.tsv"; }

show_layout() { awk -F'\t' -f "$benches/tables/aa.awk" -v title=layout -v key=layout "$results/trust-layout.tsv"; }
