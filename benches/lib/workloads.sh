# What runs: for each workload, how a variant of its program is built, and with which arguments it is started.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run.sh, and results in variables

small_workloads=(fib hot-tree cold-tree methods)
real_workloads=(sqlite lua cppcheck redis postgres)

# prepare_workload NAME: sets `program` (a path, to which .VARIANT is added), `arguments` and `root`, and builds the
# variants that the contenders need. Fails, having said why, if it cannot be built here.
prepare_workload() {
    program=$work/$1 root=program_main
    case $1 in
    fib) arguments=(32) ;;
    hot-tree) arguments=(300000) ;;
    cold-tree) arguments=(20000) ;;
    methods) arguments=(1000) ;;
    sqlite) arguments=(--memdb --size 10 --testset main) ;;
    lua) arguments=("$benches/programs/bench.lua" 2) ;;
    cppcheck) arguments=(--quiet -D__cplusplus -D__GNUC__ -D__unix__ "$cache/cppcheck/source/lib/path.cpp") ;;
    esac
    case $1 in
    sqlite) prepare_sqlite || return ;;
    lua) get_source_package lua lua5.4 && program=$cache/lua/lua || return ;;
    cppcheck)
        get_source_package cppcheck cppcheck && program=$cache/cppcheck/cppcheck || return
        ln -sfn source/cfg "$cache/cppcheck/cfg" ;; # where it looks
    mawk) get_source_package mawk mawk && program=$cache/mawk/mawk || return ;;
    esac
    local contender
    for contender in "${contenders[@]}" empty; do
        use_contender "$contender"
        # What is in the cache stays: it is the same source, and its compiler is part of the name.
        [[ -e $program.$variant ]] || build "${1//-/_}" "$variant" || { refuse "$1 could not be built: see $work/build.log"; return 1; }
    done
}

# build NAME VARIANT: $program.VARIANT.
build() {
    local flags=(-O2 -g -w) c=cc cxx=c++ objects=("$work/clock.o")
    case $2 in
    hooks) flags+=(-finstrument-functions) ;;
    gprof) flags+=(-pg) ;;
    xray)
        c=clang cxx=clang++
        flags+=(-fxray-instrument -fxray-instruction-threshold=1)
        objects+=("$work/xray.o")
        clang -O2 -w -c "$benches/tools/xray.c" -o "$work/xray.o" ;;
    esac
    "build_$1" "$program.$2" >>"$work/build.log" 2>&1
}

# The small C programs must make the same calls whatever compiles them.
physical_calls=(-fno-inline -fno-optimize-sibling-calls)

build_fib() { "$c" "${flags[@]}" "${physical_calls[@]}" -Dmain=program_main "$benches/programs/fib.c" "${objects[@]}" -o "$1"; }

build_hot_tree() { build_tree "$1" -v depth=4 -v functions=12 -v sites=3 -v breadth=2 -v cold=0; }
build_cold_tree() { build_tree "$1" -v depth=8 -v functions=512 -v sites=4 -v breadth=2 -v cold=1; }
build_tree() {
    awk "${@:2}" -f "$benches/programs/tree.awk" >"$program.c" &&
        "$c" "${flags[@]}" "${physical_calls[@]}" -Dmain=program_main "$program.c" "${objects[@]}" -o "$1"
}

# As C++ is built: what is inlined is inlined.
build_methods() { "$cxx" "${flags[@]}" "$benches/programs/methods.cpp" "${objects[@]}" -o "$1"; }

build_lua() {
    local file parts=()
    rm -rf "$work/lua.o" && mkdir "$work/lua.o"
    for file in "$cache"/lua/source/src/*.c; do
        case $file in
        */luac.c) continue ;;
        */lua.c) set -- "$1" -Dmain=program_main ;;
        *) set -- "$1" ;;
        esac
        parts+=("$work/lua.o/$(basename "$file" .c).o")
        "$c" "${flags[@]}" -DLUA_USE_POSIX "${@:2}" -c "$file" -o "${parts[-1]}" || return
    done
    "$c" "${flags[@]}" "${parts[@]}" "${objects[@]}" -lm -o "$1"
}

# A C++ program of millions of call paths. Its files are compiled as many at a time as there are processors: it takes minutes.
build_cppcheck() {
    local source=$cache/cppcheck/source file
    rm -rf "$work/cppcheck.o" && mkdir "$work/cppcheck.o"
    echo 'extern "C" int program_main(int, char **);' >"$work/cppcheck.o/main.h"
    for file in "$source"/{lib,cli,externals/simplecpp,externals/tinyxml2}/*.cpp; do
        case $file in */cli/main.cpp) printf '%s -include main.h -Dmain=program_main\0' "$file" ;; *) printf '%s \0' "$file" ;; esac
    done | (
        export cxx objects_in="$work/cppcheck.o"
        export flags_of_all="${flags[*]} -std=c++11 -DNDEBUG -I$source/lib -I$source/cli -I$source/externals/simplecpp -I$source/externals/tinyxml2 -I$source/externals/picojson -I$work/cppcheck.o"
        # shellcheck disable=SC2016 # the shell that xargs starts expands them
        xargs -0 -n 1 -P "$(nproc)" bash -c 'set -- $0; file=$1; shift; $cxx $flags_of_all "$@" -c "$file" -o "$objects_in/$(basename "$file" .cpp).o"'
    ) && "$cxx" "$work/cppcheck.o"/*.o "${objects[@]}" -lpthread -o "$1"
}

# The source package has SQLite's many files; its makefile joins them into the amalgamation, with Tcl.
prepare_sqlite() {
    get_source_package sqlite sqlite3 || return
    program=$cache/sqlite/speedtest1
    local source=$cache/sqlite/source
    [[ ! -e $source/sqlite3.c ]] || return 0
    command -v tclsh >/dev/null || refuse "sqlite is left out: tclsh is missing (package tcl)" || return
    say "making SQLite's amalgamation"
    (cd "$source" && ./configure --disable-tcl --disable-readline && make sqlite3.c) >>"$cache/sqlite/build.log" 2>&1 ||
        refuse "sqlite is left out: making sqlite3.c failed (see $cache/sqlite/build.log)"
}

build_sqlite() {
    local source=$cache/sqlite/source
    flags+=(-I "$source" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION)
    "$c" "${flags[@]}" -c "$source/sqlite3.c" -o "$work/sqlite3.o" &&
        "$c" "${flags[@]}" -Dmain=program_main -c "$source/test/speedtest1.c" -o "$work/speedtest1.o" &&
        "$c" "${flags[@]}" "$work/sqlite3.o" "$work/speedtest1.o" "${objects[@]}" -lm -o "$1"
}

# For trust.sh only, which needs no clock around its main.
build_mawk() {
    rm -rf "$work/mawk.o" && mkdir "$work/mawk.o" &&
        (cd "$work/mawk.o" && "$cache/mawk/source/configure" CC="$c" CFLAGS="${flags[*]}" && make mawk) &&
        cp "$work/mawk.o/mawk" "$1"
}
