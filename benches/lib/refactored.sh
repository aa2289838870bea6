# A/B: Lua against itself with one function refactored, so that it does what it did. Nothing has changed; cost has moved.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of trust.sh, and results in variables

refactoring_kinds=(renamed outlined inlined reordered)

bench_refactored() {
    local number=0 done file function kind moved named
    get_source_package lua lua5.4 || return 0
    begin_table trust-refactored number kind function file comparison_load verdict moved changed changed_names same_code one_sided launcher
    build_planted base || { refuse "Lua could not be built: see $work/build.log"; return 0; }
    done=$(done_of_all trust-refactored)
    while IFS=$'\t' read -r kind function file && ((number < refactored)); do
        build_refactored "$kind" "$function" "$file" || continue
        number=$((number + 1))
        ((number > done)) || continue
        compare "'$work/planted/base' '$benches/programs/bench.lua' 0.5" "'$work/planted/refactored' '$benches/programs/bench.lua' 0.5"
        tsv_row trust-refactored "$number" "$kind" "$function" "$file" "$(load_now)" "$(verdict_of_refactoring)" "${prefix:--}"
    done < <(refactorings)
    show_refactored
}

# refactorings: kind, function and source file, for each kind of each function that takes a part of the run that is tested: those
# that take the most first, and their kinds in turn.
refactorings() {
    local index=0 function file kind turn
    rm -rf "$work/profile"
    "$work/diytrace" record --out "$work/profile" "$work/planted/base" "$benches/programs/bench.lua" 0.5 >/dev/null 2>&1
    "$work/diytrace" report "$work/profile" --format csv --sort self 2>/dev/null | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        NR <= 61 { gsub(/"/, ""); print $at["name"] }' >"$work/hot"
    for turn in 0 1 2 3; do
        index=0
        while read -r function; do
            file=$(grep -lE -m 1 "^[A-Za-z_].*[ *]$function \(" "$cache"/lua/source/src/*.c | sed -n 1p) || true
            kind=${refactoring_kinds[(index++ + turn) % 4]}
            [[ -z $file ]] || printf '%s\t%s\t%s\n' "$kind" "$function" "$(basename "$file" .c)"
        done <"$work/hot"
    done
}

# build_refactored KIND FUNCTION FILE: $work/planted/refactored. Fails where there is no such refactoring of it.
build_refactored() {
    local source=$cache/lua/source/src new=$work/planted/refactored.c object objects=() old
    old=$source/$3.c
    [[ $3 != lstrlib ]] || old=$work/planted/lstrlib.c # whose base is another than Lua's
    perl "$benches/tools/refactor.pl" "$1" "$2" <"$old" >"$new" || return
    for object in "$work"/planted/o/*.o "$work/planted/base.o"; do
        case $(basename "$object" .o) in "$3") ;; base) [[ $3 == lstrlib ]] || objects+=("$object") ;; *) objects+=("$object") ;; esac
    done
    cc -O2 -g -w -finstrument-functions -DLUA_USE_POSIX -I "$source" -I "$benches/programs" -c "$new" -o "$work/planted/refactored.o" &&
        cc "${objects[@]}" "$work/planted/refactored.o" -lm -o "$work/planted/refactored"
} >>"$work/build.log" 2>&1

# verdict_of_refactoring: moved, changed or not-called, how many functions are called so, and the names of those called changed.
verdict_of_refactoring() {
    awk -F'\t' '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { count[$at["verdict"]]++ }
        $at["verdict"] == "changed" { names = names (names ? " " : "") $at["function"] }
        END {
            verdict = count["changed"] ? "changed" : count["moved"] ? "moved" : "not-called"
            printf "%s\t%d\t%d\t%s\t%d\t%d", verdict, count["moved"], count["changed"], names ? names : "-", count["same-code"], count["one-sided"]
        }' "$set/report/functions.tsv"
}

show_refactored() { awk -F'\t' -f "$benches/tables/refactored.awk" "$results/trust-refactored.tsv"; }
