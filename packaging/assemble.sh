#!/bin/sh
# Makes what people install of binaries that are built: `assemble.sh TARGET BINARY STATIC-BINARY DIRECTORY`. Called by `make dist`.
set -eu

target=$1 binary=$2 static=$3 out=$4
architecture=${target%%-*}
version=$("$binary" --version | cut -d ' ' -f 2)
name=lunas-$version-$architecture-linux
sbom=lunas-$version.cdx

rm -rf "$out"
mkdir -p "$out/man" "$out/completions"
"$binary" man "$out/man"
for shell in bash zsh fish; do
    "$binary" completions "$shell" >"$out/completions/lunas.$shell"
done

# The archive, for systems without Debian's packages.
mkdir "$out/$name"
install -m 0755 "$binary" packaging/lunasctl "$out/$name"
install -m 0644 packaging/lunas.service packaging/lunas.env LICENSE docs/install.md docs/operating.md "$out/$name"
cp -r "$out/man" "$out/completions" "$out/$name"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out" -c "$name" |
    gzip -n -9 >"$out/$name.tar.gz"
rm -r "${out:?}/$name"

cargo deb --quiet --no-build --no-strip --profile dist --package lunas --target "$target" --output "$out/"

# The tool writes beside every Cargo.toml of the workspace; only the program's own list is kept, without paths of this machine.
cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$target" --override-filename "$sbom" \
    --manifest-path crates/lunas/Cargo.toml
sed "s|file://$(pwd)|file:///lunas|g" "crates/lunas/$sbom.json" >"$out/$sbom.json"
find crates -name "$sbom.json" -delete

packaging/image.sh "$static" /etc/ssl/certs/ca-certificates.crt "$out"

cd "$out"
sha256sum -- *.deb *.tar.gz *.json >SHA256SUMS
ls -l
