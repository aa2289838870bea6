# Sources of real programs, from the distribution's source packages. Fetched once, into the cache.
# shellcheck shell=bash disable=SC2030,SC2031,SC2154 # variables of run.sh, and of a subshell

# PostgreSQL's server does not run as root but as `nobody`, who may not enter root's home.
choose_cache() {
    if ((EUID == 0)); then
        cache=${DIYTRACE_BENCH_CACHE:-/var/tmp/diytrace-benches}
    else
        cache=${DIYTRACE_BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/diytrace-benches}
    fi
    mkdir -p "$cache" || fail "cannot make the folder $cache; name another in DIYTRACE_BENCH_CACHE"
    cache=$(cd "$cache" && pwd)
}

# get_source NAME PACKAGE: unpacks the package's source into $cache/NAME/source.
get_source_package() (
    [[ ! -e $cache/$1/source.done ]] || exit 0
    say "fetching the source of $2 into $cache/$1"
    # shellcheck source=/dev/null
    . "$benches/../examples/postgres.sh" # for its package lists
    folder=$cache/$1
    apt_options=()
    mkdir -p "$folder/download"
    command -v apt-get >/dev/null || refuse "no apt-get here, so $1 is left out" || exit 1
    versions=$(versions_of "$2")
    [[ -n $versions ]] || { use_private_package_lists && versions=$(versions_of "$2"); }
    # An index may name versions whose files have gone from the mirror, so each is tried.
    for version in $versions; do
        (cd "$folder/download" && apt-get "${apt_options[@]}" source --download-only --tar-only "$2=$version") \
            >>"$folder/build.log" 2>&1 || continue
        tarball=$(find "$folder/download" -name '*.orig.tar.*' ! -name '*.asc' | sort | tail -n 1)
        [[ -n $tarball ]] || continue
        rm -rf "$folder/source" && mkdir "$folder/source"
        tar -xf "$tarball" -C "$folder/source" --strip-components=1
        touch "$folder/source.done"
        exit 0
    done
    refuse "no source package of $2 could be fetched (see $folder/build.log), so $1 is left out"
)

versions_of() {
    apt-cache "${apt_options[@]}" showsrc "$1" 2>/dev/null | awk '$1 == "Version:" { print $2 }' | sort -Vru
}

# Says why a workload is left out.
refuse() {
    say "$1"
    return 1
}
