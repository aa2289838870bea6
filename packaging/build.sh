#!/usr/bin/env bash
# Makes the packages: a .deb, and a tarball with the same files for any prefix.
#
#   packaging/build.sh [FOLDER]    FOLDER is packages/ in cargo's target folder as a rule; it is made if it is missing
#
# To install:  apt install ./diytrace_*.deb    or    tar -C /usr/local --strip-components=1 -xf diytrace-*.tar.gz
# Exit status: 0 made, 1 not so, 2 a tool is missing. The same source gives the same bytes where the build does
# (SOURCE_DATE_EPOCH, or the time of the last commit).
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packaging=$repo/packaging
target=$(realpath -m "${CARGO_TARGET_DIR:-$repo/target}")
out=$(realpath -m "${1:-$target/packages}")

heading() { printf '\n== %s\n' "$*"; }
missing() { printf 'build.sh: missing: %s; install it with: %s\n' "$@" >&2; exit 2; }

command -v cargo >/dev/null || missing cargo "curl https://sh.rustup.rs -sSf | sh"
command -v objdump >/dev/null || missing "objdump and strip" "apt-get install binutils"
command -v dpkg-deb >/dev/null || missing dpkg-deb "apt-get install dpkg"
command -v jq >/dev/null || missing jq "apt-get install jq"

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$repo" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' "$repo/Cargo.toml")

heading "Building diytrace $version"
cargo build --release --locked --manifest-path "$repo/Cargo.toml" --target-dir "$target"

work=$(mktemp -d "${TMPDIR:-/tmp}/diytrace-packages.XXXXXX")
trap 'rm -rf "$work"' EXIT
umask 022
name=diytrace-$version-x86_64-linux
tree=$work/$name
doc=$tree/share/doc/diytrace

heading "What is installed"
install -Ds --mode=755 "$target/release/diytrace" "$tree/bin/diytrace"
# In lib/, not below it: there the command looks for it, and LD_PRELOAD=libdiytrace.so finds it without a path.
install -Ds --mode=644 "$target/release/libdiytrace.so" "$tree/lib/libdiytrace.so"
"$tree/bin/diytrace" man "$tree/share/man/man1"
find "$tree/share/man" -name '*.1' -exec gzip -9n {} +
mkdir -p "$tree"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
"$tree/bin/diytrace" completions bash >"$tree/share/bash-completion/completions/diytrace"
"$tree/bin/diytrace" completions zsh >"$tree/share/zsh/site-functions/_diytrace"
"$tree/bin/diytrace" completions fish >"$tree/share/fish/vendor_completions.d/diytrace.fish"
install -D --mode=644 -t "$tree/lib/systemd/system" "$packaging"/diytrace-*.service
install -D --mode=644 -t "$doc" "$repo"/{README,CHANGELOG}.md "$repo"/LICENSE-{APACHE,MIT}
install -D --mode=644 -t "$doc/packaging" "$packaging/README.md"
install -D --mode=644 -t "$doc/examples" "$packaging/compose.yaml"
install -D --mode=644 -t "$doc/docs" "$repo"/docs/*.md
install -D --mode=644 -t "$doc/docs/tour" "$repo"/docs/tour/{README.md,*.png}
install -D --mode=644 -t "$doc/examples" "$repo"/examples/*.c
install -D --mode=755 -t "$doc/examples" "$repo/examples/quickstart.sh"
"$packaging/notices.sh" | gzip -9n >"$doc/NOTICES.gz"
(cd "$tree" && find . -type f -printf '%10s %P\n' | sort -k 2)

heading "Packages"
mkdir -p "$out"
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -c "$name" | gzip -9n >"$out/$name.tar.gz"

deb=$work/deb
mkdir -p "$deb/DEBIAN" "$deb/usr/share/zsh"
cp -a "$tree/." "$deb/usr"
mv "$deb/usr/share/zsh"/{site-functions,vendor-completions} # where Debian's zsh looks
# Debian wants licences in a file of this name.
cat "$packaging/copyright" "$repo/LICENSE-MIT" >"$deb/usr/share/doc/diytrace/copyright"
glibc=$(objdump -T "$tree"/{bin/diytrace,lib/libdiytrace.so} | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
sed -e "s/@VERSION@/$version/" -e "s/@GLIBC@/${glibc#GLIBC_}/" -e "s/@KILOBYTES@/$(du -sk "$deb/usr" | cut -f 1)/" \
    "$packaging/control" >"$deb/DEBIAN/control"
(cd "$deb" && find usr -type f -exec md5sum {} + | sort -k 2) >"$deb/DEBIAN/md5sums"
find "$deb" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group --build "$deb" "$out/diytrace_${version}_amd64.deb" >/dev/null
ls -l "$out/$name.tar.gz" "$out/diytrace_${version}_amd64.deb"
