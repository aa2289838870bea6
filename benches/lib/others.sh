# A/B in other programs than Lua: SQLite against itself with patternCompare() changed, which LIKE is, and ninja (C++) with
# CanonicalizePath(), which takes `.` and `..` out of a path, and PostgreSQL with advance_windowaggregate(), which adds a row
# to an aggregate. Each takes a twentieth to a thirteenth of the run.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of trust.sh, and results in variables

other_subjects=(sqlite ninja postgres)
other_changes=(slower-2 slower-5 calls-1)

bench_others() {
    local wanted=() name subject search_function planted_callers
    for name in "${other_changes[@]}"; do ! is_one_of "$name" "${changes[@]}" || wanted+=("$name"); done
    ((${#wanted[@]})) || return 0
    begin_planted trust-others
    for subject in "${other_subjects[@]}"; do
        ! "prepare_planted_$subject" || compare_changes trust-others "$subject:" "${wanted[@]}"
    done
    show_others
}

prepare_planted_sqlite() {
    search_function=patternCompare planted_callers='likeFunc'
    prepare_sqlite && (cd "$cache/sqlite/source" && make shell.c) >>"$work/build.log" 2>&1
}

# build_planted_sqlite NAME FLAG...: $work/planted/sqlite/NAME, SQLite's shell.
build_planted_sqlite() {
    local source=$cache/sqlite/source folder=$work/planted/sqlite
    local compile=(cc -O2 -g -w -finstrument-functions -I "$source" -I "$benches/programs" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION)
    if [[ ! -e $folder/shell.o ]]; then
        mkdir -p "$folder"
        # The line behind its declaration, the line that ends its head, and its caller, which is the one with four arguments.
        sed -E -e '/^static int patternCompare\(/{s/static int/#include "planted.h"\nPLANTED_KIND static int/;:head;n;/\{$/!b head;s/$/\n  PLANTED_START()/}' \
            -e 's/patternCompare\(zB, zA, pInfo, escape\)/PLANTED_CALL(patternCompare, zB, zA, pInfo, escape)/' \
            "$source/sqlite3.c" >"$folder/sqlite3.c"
        [[ $(grep -c PLANTED_ "$folder/sqlite3.c") = 3 ]] || refuse "this version of SQLite has another patternCompare" || return
        "${compile[@]}" -c "$source/shell.c" -o "$folder/shell.o" || return
    fi
    "${compile[@]}" "${@:2}" -c "$folder/sqlite3.c" -o "$folder/$1.o" && cc "$folder/$1.o" "$folder/shell.o" -lm -o "$folder/$1"
} >>"$work/build.log" 2>&1

compare_planted_sqlite() {
    local script=":memory: '.read $benches/programs/like.sql'"
    compare "'$work/planted/sqlite/$1' $script" "'$work/planted/sqlite/$2' $script"
}

prepare_planted_ninja() {
    search_function='CanonicalizePath(char*, unsigned long*, unsigned long*)' planted_callers='CanonicalizePath[(]std::.*'
    get_source_package ninja ninja-build
}

# build_planted_ninja NAME FLAG...: $work/planted/ninja/NAME. What is asked for each character of a path has no hooks, nor have the
# templates of the standard library.
build_planted_ninja() {
    local source=$cache/ninja/source/src folder=$work/planted/ninja file
    local compile=(c++ -std=c++11 -O2 -g -w -DNDEBUG -finstrument-functions -finstrument-functions-exclude-function-list=IsPathSeparator
        -finstrument-functions-exclude-file-list=/usr/include -iquote "$source" -I "$benches/programs")
    if [[ ! -e $folder/build.ninja ]]; then
        mkdir -p "$folder/o"
        for file in "$source"/*.cc; do
            case ${file##*/} in *_test.cc | *_perftest.cc | *win32.cc | *.in.cc | test.cc | browse.cc | hash_collision_bench.cc | util.cc) continue ;; esac
            "${compile[@]}" -c "$file" -o "$folder/o/$(basename "$file" .cc).o" || return
        done
        sed -E -e 's/^void CanonicalizePath\(char\* path, .*\{$/PLANTED_KIND &\n  PLANTED_START()/' \
            -e 's/^  CanonicalizePath\(str, &len, slash_bits\);/  PLANTED_CALL(CanonicalizePath, str, \&len, slash_bits);/' \
            -e '/^void CanonicalizePath\(string\* path,/i #include "planted.h"' \
            "$source/util.cc" >"$folder/util.cc"
        [[ $(grep -c PLANTED_ "$folder/util.cc") = 3 ]] || refuse "this version of ninja has another CanonicalizePath" || return
        awk -v edges=10000 -f "$benches/programs/ninja.awk" >"$folder/build.ninja"
    fi
    "${compile[@]}" "${@:2}" -c "$folder/util.cc" -o "$folder/$1.o" && c++ "$folder"/o/*.o "$folder/$1.o" -lpthread -o "$folder/$1"
} >>"$work/build.log" 2>&1

# It reads what is to be built, and prints the rules in there.
compare_planted_ninja() {
    local arguments="-f '$work/planted/ninja/build.ninja' -t rules"
    compare "'$work/planted/ninja/$1' $arguments" "'$work/planted/ninja/$2' $arguments"
}

# A server for one session, which reads its queries from standard input: executor and sorting have hooks, and others' work is done in between.
prepare_planted_postgres() {
    search_function=advance_windowaggregate planted_callers='eval_windowaggregates'
    with_postgres make_planted_data && echo "$planted_query" >"$work/planted.sql"
}

# As it finds nothing, the text stays as it is, row for row.
planted_aggregate="create aggregate unchanged(text, text) (sfunc = regexp_replace, stype = text, initcond = '$(printf 'so many words %.0s' {1..8})');"
planted_query="select count(s) from (select unchanged('wor[0-9]', '') over (order by a) s from x where a <= 5000) t;
select sum(a) from (select a from x order by -a offset 0) s;"

# In with_postgres: the table, and a script that runs the server of a name. Its user writes the recording.
make_planted_data() {
    load_table >&2
    (cd "$folder/data" && echo "$planted_aggregate" | "${as_server[@]}" "$folder/install/bin/postgres" --single -D . postgres) >>"$work/build.log" 2>&1 || return
    printf 'planted_folder=%q\n' "$folder" >"$work/planted-postgres"
    cat >"$work/planted-postgres.sh" <<END
chmod 777 "\$DIYTRACE_OUT"
export LD_LIBRARY_PATH='$LD_LIBRARY_PATH'
cd '$folder/data' && exec ${as_server[*]} '$folder/install/bin/postgres.planted-'"\$1" --single -D . -c fsync=off postgres <'$work/planted.sql'
END
}

# build_planted_postgres NAME FLAG...: the server's file install/bin/postgres.planted-NAME. Only one file of it is compiled.
build_planted_postgres() (
    # shellcheck source=/dev/null
    . "$work/planted-postgres"
    cd "$planted_folder/source/src/backend" || return
    file=executor/nodeWindowAgg.c
    cp -p "$file" "$file.original"
    # shellcheck disable=SC2064 # the file's name as it is now
    trap "mv '$PWD/$file.original' '$PWD/$file'; rm -f executor/{nodeWindowAgg.o,objfiles.txt} postgres" EXIT
    # Its declaration, its name where it is defined, the end of that head, and its only caller.
    sed -E -e '/^static void advance_windowaggregate\(/{h;s/.*/#include "planted.h"/;G}' \
        -e '/^advance_windowaggregate\(/{s/^/PLANTED_KIND /;:head;n;/^\{$/!b head;s/$/\n\tPLANTED_START()/}' \
        -e 's/^(\t+)advance_windowaggregate\(winstate,$/\1PLANTED_CALL(advance_windowaggregate, winstate,/' "$file.original" >"$file"
    [[ $(grep -c PLANTED_ "$file") = 3 ]] || refuse "this version of PostgreSQL has another advance_windowaggregate" || return
    rm -f executor/{nodeWindowAgg.o,objfiles.txt} postgres
    make -C executor COPT="-finstrument-functions -I $benches/programs ${*:2}" && make &&
        cp -f postgres "$planted_folder/install/bin/postgres.planted-$1"
) >>"$work/build.log" 2>&1

compare_planted_postgres() {
    local script="sh '$work/planted-postgres.sh'"
    compare "$script '$1'" "$script '$2'"
}

show_others() { awk -F'\t' -f "$benches/tables/planted.awk" "$results/trust-others.tsv"; }
