#!/bin/sh
# Makes the root of the container image: `image.sh STATIC-BINARY CERTIFICATES DIRECTORY` writes DIRECTORY/image.tar. Everything in it
# belongs to root, so that the server's user cannot change the program that it runs, but for the directory of the data.
set -eu

static=$1 certificates=$2 out=$3
user=65532
root=$out/image

rm -rf "$root"
mkdir -p "$root/usr/bin" "$root/etc/ssl/certs" "$root/var/lib/lunas" "$root/tmp"
install -m 0755 "$static" "$root/usr/bin/lunas"
install -m 0644 "$certificates" "$root/etc/ssl/certs/ca-certificates.crt"
find "$root" -type d -exec chmod 0755 {} +
chmod 0750 "$root/var/lib/lunas"
chmod 1777 "$root/tmp"

archive() { tar --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --numeric-owner -C "$root" "$@"; }
archive --owner=0 --group=0 --exclude=./var/lib/lunas -cf "$out/image.tar" .
archive --owner=$user --group=$user -rf "$out/image.tar" ./var/lib/lunas
rm -r "${root:?}"
