#!/usr/bin/env bash
# Installs the packages into a bare Debian, and follows an example there from recording to report.
#
#   packaging/check.sh [FOLDER]    FOLDER has what packaging/build.sh makes; without, they are made
#
# The bare Debian is of this machine's release, made by mmdebstrap from its mirror, and thrown away. Exit status 77 says
# that nothing was tested: no mmdebstrap, no Debian, no way to make a root here (an ordinary user without user namespaces,
# a container that may not mount /proc), or no mirror.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
skip() { printf 'check.sh: %s\n' "$*" >&2; exit 77; } # as test harnesses have it

command -v mmdebstrap >/dev/null || skip "missing: mmdebstrap; install it with: apt-get install mmdebstrap"
# shellcheck source=/dev/null
. /etc/os-release
[[ $ID = debian && -n ${VERSION_CODENAME:-} ]] || skip "this is ${PRETTY_NAME:-no Debian}: a Debian's glibc may be older than what is built here"

packages=${1:-}
if [[ -z $packages ]]; then
    "$repo/packaging/build.sh"
    packages=${CARGO_TARGET_DIR:-$repo/target}/packages
fi
newest() { find "$packages" -maxdepth 1 -name "$1" -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-; }
deb=$(newest 'diytrace_*_amd64.deb')
tarball=$(newest 'diytrace-*-x86_64-linux.tar.gz')
[[ -n $deb && -n $tarball ]] || { echo "check.sh: no packages in $packages" >&2; exit 2; }

work=$(mktemp -d "${TMPDIR:-/tmp}/diytrace-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # another user reads it where mmdebstrap makes a user namespace
cp "$deb" "$work/diytrace.deb"
cp "$tarball" "$work/diytrace.tar.gz"

cat >"$work/inside.sh" <<'END' # what is done in there
set -eu
step() { printf '\n-- %s\n' "$*"; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp "$@"; }

step "the package"
dpkg -i /tmp/diytrace.deb
diytrace --version
ldconfig
for page in diytrace diytrace-record diytrace-report; do gzip -t "/usr/share/man/man1/$page.1.gz"; done
bash -c '. /usr/share/bash-completion/completions/diytrace && complete -p diytrace' >/dev/null
test -s /usr/share/zsh/vendor-completions/_diytrace
test -s /usr/share/fish/vendor_completions.d/diytrace.fish
gzip -dc /usr/share/doc/diytrace/NOTICES.gz | grep -q '^==== clap '
(cd / && md5sum --quiet -c /var/lib/dpkg/info/diytrace.md5sums)

step "its example, as an ordinary user: compiled, recorded, and its report held against what the client asked for"
as_nobody bash /usr/share/doc/diytrace/examples/quickstart.sh

step "a recorder that is preloaded by its name alone"
cd /tmp && as_nobody sh -c 'echo "int main(void) { return 0; }" >one.c && gcc -finstrument-functions -o one one.c'
as_nobody env LD_PRELOAD=libdiytrace.so DIYTRACE_OUT=/tmp/one.data ./one
as_nobody diytrace report --format csv one.data | grep -q ',main,'

step "removed without a trace"
dpkg --purge diytrace
test ! -e /usr/bin/diytrace -a ! -e /usr/lib/libdiytrace.so -a ! -e /usr/share/doc/diytrace

step "the tarball, elsewhere"
mkdir /opt/diytrace
tar -C /opt/diytrace --strip-components=1 -xf /tmp/diytrace.tar.gz
as_nobody bash /opt/diytrace/share/doc/diytrace/examples/quickstart.sh >/tmp/quickstart.log || { cat /tmp/quickstart.log; exit 1; }
echo done > /tmp/checked
END

# Where nothing else was done, it is this machine that cannot.
log=$work/log
status=0
mmdebstrap --quiet --variant=apt --include=gcc,libc6-dev \
    --customize-hook="touch $work/made" \
    --customize-hook="test -e \"\$1/proc/self/maps\" || touch $work/unmounted" \
    --customize-hook="copy-in $work/diytrace.deb $work/diytrace.tar.gz $work/inside.sh /tmp" \
    --customize-hook='chroot "$1" sh /tmp/inside.sh' \
    --customize-hook="copy-out /tmp/checked $work" \
    "$VERSION_CODENAME" /dev/null 2>&1 | tee "$log" || status=$?
[[ -e $work/checked ]] && { printf '\ninstalled, recorded, reported, removed\n'; exit 0; }
[[ -e $work/made ]] || skip "mmdebstrap made no root here (status $status): $(tail -n 1 "$log")"
[[ ! -e $work/unmounted ]] || skip "/proc cannot be mounted in a root that is made here"
echo "check.sh: failed, see above" >&2
exit 1
