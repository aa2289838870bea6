# shellcheck shell=bash
# Sources of servers, as the distribution packages them.

# Fetches the upstream archive of a source package into $folder/download, and sets `tarball`. It asks the archives that
# this system already trusts, by package lists of our own: the system's stay as they are.
download_source() { # package
    local apt=$folder/apt release options version
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/download"
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    # shellcheck disable=SC2016 # the dollars are apt's
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT) $(SIGNED_BY)' 'Created-By: Packages' |
        awk -v release="$release" 'index($2, release) == 1 && ($3 == "main" || $3 == "universe") {
            print "deb-src", ($4 ~ "^/" ? "[signed-by=" $4 "] " : "") $1, $2, $3 }' | sort -u >"$apt/sources.list"
    options=(-o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$apt/lists"
             -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)")
    apt-get "${options[@]}" update >>"$folder/build.log" 2>&1 || true # without a network nothing will be found below
    # An index may name versions whose files have gone from the mirror, so each is tried.
    for version in $(apt-cache "${options[@]}" showsrc "$1" | awk '$1 == "Version:" { print $2 }' | sort -Vru); do
        (cd "$folder/download" && apt-get "${options[@]}" source --download-only --tar-only "$1=$version") \
            >>"$folder/build.log" 2>&1 || continue
        tarball=$(find "$folder/download" -name "$1_*.orig.tar.*" ! -name '*.asc' | sort | tail -n 1)
        [[ -z $tarball ]] || return 0
    done
    skip "no source package of $1 could be fetched; set ${1^^}_TARBALL to a source archive"
}

# Unpacks a server's source into $folder/<server>.
unpack() { # server
    local variable=${1^^}_TARBALL
    tarball=${!variable:-}
    [[ -n $tarball ]] || download_source "$1"
    rm -rf "${folder:?}/$1" && mkdir "$folder/$1"
    quietly tar -xf "$tarball" -C "$folder/$1" --strip-components=1
}
