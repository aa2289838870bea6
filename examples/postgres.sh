#!/usr/bin/env bash
# What does a window function spend its time on? The experiment diytrace began with, in one command:
#
#   examples/postgres.sh [FOLDER]                (default: ./diytrace-postgres)
#   examples/postgres.sh --build-only [FOLDER]   (stops once FOLDER/install is ready)
#
# It builds PostgreSQL from the distribution's source package with two folders of it instrumented (the executor
# and the sorting code), asks it two questions, and shows what eval_windowaggregates() did for each.
# The first run takes minutes, later ones seconds. Everything stays inside FOLDER; the system is not changed.
# POSTGRES_TARBALL=FILE uses that source instead of the package. Sourced, this file only defines its functions.
set -euo pipefail

rows=100000
server_options=() # beside those that every server here has
root=eval_windowaggregates
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

heading() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail()    { printf 'postgres.sh: %s\n' "$*" >&2; exit 1; }

# Runs a long command with its output in a log, which is only shown if it fails.
quietly() {
    "$@" >>"$folder/build.log" 2>&1 || { tail -n 20 "$folder/build.log" >&2; fail "'$1' failed; all of its output is in $folder/build.log"; }
}

# ---- what must be there ------------------------------------------------------------------------------------------

check_tools() {
    local missing=()
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    local tool
    for tool in make tar bzip2 perl; do command -v "$tool" >/dev/null || missing+=("$tool"); done
    ((${#missing[@]} == 0)) || fail "missing: ${missing[*]}; install with: apt-get install ${missing[*]}"
}

# PostgreSQL refuses to run as root, so root hands the server to an account that owns nothing else.
choose_server_user() {
    as_server=(env)
    server_user=$(id -un)
    if ((EUID == 0)); then
        server_user=nobody
        as_server=(setpriv --reuid="$(id -u nobody)" --regid="$(id -g nobody)" --clear-groups --)
        "${as_server[@]}" test -x "$folder" ||
            fail "the server runs as 'nobody', who may not enter $folder; name another folder, for example /tmp/diytrace-postgres"
    fi
}

# ---- the source --------------------------------------------------------------------------------------------------

# A list of source packages of our own: the binary archives this system already trusts, asked for their sources.
use_private_package_lists() {
    local apt=$folder/apt release=
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    # shellcheck disable=SC2016 # the dollars are apt's
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT) $(SIGNED_BY)' 'Created-By: Packages' |
        awk -v release="$release" 'index($2, release) == 1 && $3 == "main" {
            print "deb-src", ($4 ~ "^/" ? "[signed-by=" $4 "] " : "") $1, $2, $3 }' | sort -u >"$apt/sources.list"
    [[ -s $apt/sources.list ]] || echo "deb-src http://deb.debian.org/debian $release main" >"$apt/sources.list"
    apt_options=(-o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$apt/lists"
                 -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)")
    quietly apt-get "${apt_options[@]}" update
}

# The newest packaged release that is still built as simply as the one this was written for (15), else its neighbours.
find_package() {
    local major
    for major in 15 16 14 13 17 18; do
        package=postgresql-$major
        versions=$(apt-cache "${apt_options[@]}" showsrc "$package" 2>/dev/null | awk '$1 == "Version:" { print $2 }' | sort -Vru)
        [[ -n $versions ]] && return
    done
    return 1
}

download_source() {
    command -v apt-get >/dev/null || fail "no apt-get here; set POSTGRES_TARBALL to a PostgreSQL source archive"
    apt_options=()
    find_package || { use_private_package_lists && find_package; } ||
        fail "no source package of PostgreSQL found; set POSTGRES_TARBALL to a PostgreSQL source archive"
    # An index may name versions whose files have gone from the mirror, so each is tried.
    local version
    mkdir -p "$folder/download"
    for version in $versions; do
        echo "trying $package $version"
        (cd "$folder/download" && apt-get "${apt_options[@]}" source --download-only --tar-only "$package=$version") \
            >>"$folder/build.log" 2>&1 || continue
        tarball=$(find "$folder/download" -name "*.orig.tar.*" ! -name '*.asc' | sort | tail -n 1)
        [[ -n $tarball ]] && return
    done
    fail "none of these versions of $package could be fetched: ${versions//$'\n'/ }"
}

get_source() {
    [[ ! -e $folder/source.done ]] || return 0
    heading "Fetching PostgreSQL's source"
    tarball=${POSTGRES_TARBALL:-}
    [[ -n $tarball ]] || download_source
    rm -rf "$folder/source" && mkdir "$folder/source"
    quietly tar -xf "$tarball" -C "$folder/source" --strip-components=1
    touch "$folder/source.done"
}

# ---- the build ---------------------------------------------------------------------------------------------------

# Twice: first all of it as it comes, then the two folders under examination once more with the hooks. The first
# server is kept beside the second as postgres.plain, to see what the hooks cost.
build() {
    [[ ! -e $folder/install.done ]] || return 0
    heading "Building PostgreSQL (minutes; output in $folder/build.log)"
    # Neither make nor PostgreSQL's makefiles can have a space in a path, so they see such a folder by another name.
    local place=$folder link=
    if [[ $folder == *[[:space:]]* ]]; then
        link=$(mktemp -d)
        place=$link/postgres
        ln -s "$folder" "$place"
    fi
    local major options=(--without-readline --without-zlib)
    major=$(sed -nE "s/^PACKAGE_VERSION='([0-9]+).*/\1/p" "$folder/source/configure")
    ((major < 16)) || options+=(--without-icu)
    ((major < 17)) || { command -v bison && command -v flex; } >/dev/null || fail "missing: bison flex; install with: apt-get install bison flex"
    (
        cd "$place/source"
        # PGBINDIR and friends are found relative to the program, so the prefix matters little.
        quietly ./configure --prefix="$place/install" "${options[@]}" CFLAGS="-O2 -g"
        quietly make -j"$(nproc)"
        quietly make install
        cp -f src/backend/postgres "$place/install/bin/postgres.plain"

        cd src/backend
        rm -f {executor,utils/sort}/{*.o,objfiles.txt} postgres
        quietly make -j"$(nproc)" -C executor COPT=-finstrument-functions
        quietly make -j"$(nproc)" -C utils/sort COPT=-finstrument-functions
        quietly make -j"$(nproc)"
        cp -f postgres "$place/install/bin/postgres"
    )
    [[ -z $link ]] || rm -r "$link"
    grep -q __cyg_profile_func_enter "$folder/install/bin/postgres" || fail "the server was built without hooks"
    touch "$folder/install.done"
}

find_diytrace() {
    local target=${CARGO_TARGET_DIR:-$repo/target}
    if [[ ! -x $target/release/diytrace || ! -e $target/release/libdiytrace.so ]]; then
        heading "Building diytrace"
        command -v cargo >/dev/null || fail "missing: cargo; install with: apt-get install cargo, or from https://rustup.rs"
        cargo build --release --manifest-path "$repo/Cargo.toml"
    fi
    # Copied, because the server's user may not be allowed to read where they were built.
    mkdir -p "$folder/diytrace"
    cp -f "$target/release/diytrace" "$target/release/libdiytrace.so" "$folder/diytrace/"
    diytrace=$folder/diytrace/diytrace
}

# ---- a server ----------------------------------------------------------------------------------------------------

# A folder the server's user may write to, empty.
fresh_folder() {
    rm -rf "$1"
    mkdir "$1"
    ((EUID != 0)) || chown nobody "$1"
}

choose_socket_folder() {
    socket=$folder/socket
    # A socket's path has at most 107 bytes, and both ends take a comma for the start of another one.
    if ((${#folder} > 80)) || [[ $folder == *,* ]]; then
        socket=$(mktemp -d)
        chmod 755 "$socket"
        temporary_socket=$socket
    fi
    fresh_folder "$socket"
}

# start_server [LAUNCHER...]: runs the server, under the launcher if there is one, until stop_server.
start_server() {
    (cd "$folder/data" && exec "${as_server[@]}" "$@" "$folder/install/bin/postgres" -D "$folder/data" \
        -c listen_addresses= -c unix_socket_directories="$socket" -c fsync=off -c autovacuum=off "${server_options[@]}") >>"$folder/server.log" 2>&1 &
    server=$!
    local _
    for _ in {1..300}; do
        "$folder/install/bin/pg_isready" -q -h "$socket" && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 20 "$folder/server.log" >&2
    fail "the server did not start; its output is in $folder/server.log"
}

# SIGINT to the first process is PostgreSQL's fast shutdown. A launcher ends with it.
stop_server() {
    [[ -n ${server:-} ]] || return 0
    local pid=
    { read -r pid <"$folder/data/postmaster.pid"; } 2>/dev/null || pid=
    kill -INT "${pid:-$server}" 2>/dev/null || true
    wait "$server" || true
    server=
}

sql() { "$folder/install/bin/psql" -X -q -v ON_ERROR_STOP=1 -h "$socket" -U "$server_user" -d postgres "$@"; }

load_table() {
    heading "A table of $rows rows"
    rm -f "$folder/server.log"
    fresh_folder "$folder/data"
    (cd "$folder/data" && quietly "${as_server[@]}" "$folder/install/bin/initdb" -D "$folder/data" -A trust --no-sync --locale=C)
    start_server
    sql -c "create table x(a int primary key)" -c "insert into x select generate_series(1, $rows)" -c "vacuum analyze x"
    stop_server
}

# ---- the experiment ----------------------------------------------------------------------------------------------

# profile NUMBER QUERY: one server, one query, one profile, one report.
profile() {
    local out=$folder/profile-$1 calls
    heading "Question $1: $2"
    fresh_folder "$out"
    start_server "$diytrace" record --root "$root" --out "$out" --
    sql -c "explain analyze $2"
    stop_server
    "$diytrace" report --root "$root" "$out"
    calls=$("$diytrace" report --root "$root" --format csv "$out" | calls_of "$root")
    [[ $calls == "$rows" ]] || fail "$root should have been called $rows times, but the profile in $out says ${calls:-nothing}"
}

# calls_of FUNCTION: its number of calls, from a report as CSV, which has a row for the root itself.
calls_of() {
    awk -F, -v name="$1" '$6 == name && $9 == "self" { print $11 }'
}

prepare() {
    umask 022 # what root builds, the server's user reads
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    export LD_LIBRARY_PATH=$folder/install/lib # psql's library, also when the build saw the folder by another name
    check_tools
    choose_server_user
    get_source
    build
}

main() {
    local build_only=
    if [[ ${1:-} == --build-only ]]; then build_only=1; shift; fi
    if (($# > 1)) || [[ ${1:-} == -* ]]; then echo "usage: postgres.sh [--build-only] [FOLDER]" >&2; exit 2; fi
    prepare "${1:-diytrace-postgres}"
    [[ -z $build_only ]] || return 0
    find_diytrace
    trap 'stop_server; [[ -z ${temporary_socket:-} ]] || rm -rf "$temporary_socket"' EXIT
    trap 'exit 130' INT TERM HUP
    choose_socket_folder
    load_table
    profile 1 "select count(*) over(order by a) from x"
    profile 2 "select count(*) over() from x"
    heading "Both profiles say $rows calls of $root, as they should. They stay in $folder."
}

[[ ${BASH_SOURCE[0]} != "$0" ]] || main "$@"
