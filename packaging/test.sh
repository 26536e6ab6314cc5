#!/bin/bash
# Installs, starts, upgrades, removes and purges the package of `make dist`, and starts the container image's root:
# `test.sh DIRECTORY`. All of it happens in a copy of this system that is made of layers in memory, with its own processes and
# its own network, so nothing of this machine changes. It needs root.
#
# The version before is OLDER, a .deb; where none is given it is this package under a lower number.
set -euo pipefail

if [ -z "${IN_SCRATCH:-}" ]; then
    exec env IN_SCRATCH=1 unshare --mount --pid --net --fork --kill-child "$0" "$(realpath "$1")"
fi

dist=$1
scratch=$(mktemp -d)
root=$scratch/root
passed=0

clean_up() {
    [ "$1" = 0 ] || { echo "failed"; tail -n 20 "$scratch"/*.log 2>/dev/null || true; }
    cd / && umount --recursive --lazy "$scratch" && rmdir "$scratch"
}
trap 'clean_up $?' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR

ok() { passed=$((passed + 1)); echo "ok: $*"; }
# `set -e` does not look at commands after a `!`.
fails() { if "$@" >"$scratch/fails.log" 2>&1; then echo "this should fail: $*"; exit 1; fi; }
inside() { chroot "$root" "$@"; }
is() { [ "$2" = "$3" ] || { echo "$1: expected '$3', got '$2'"; exit 1; }; }
mode() { inside stat -c '%a %U:%G' "$1"; }
# A value of the unit that is installed.
unit() { sed -n "s/^$1=//p" "$root/usr/lib/systemd/system/lunas.service"; }
settings() { sha256sum <"$root/etc/lunas/lunas.env"; }

make_copy() {
    ip link set lo up
    mount -t tmpfs -o mode=0755 tmpfs "$scratch"
    mkdir "$scratch/upper" "$scratch/work" "$root"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$scratch/upper,workdir=$scratch/work" "$root"
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/run"
    # Devices of its own, so that nothing inside can change those of this machine.
    mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
    local device
    for device in null:3 zero:5 full:7 random:8 urandom:9; do
        mknod -m 0666 "$root/dev/${device%:*}" c 1 "${device#*:}"
    done
    ln -s /proc/self/fd "$root/dev/fd"
}

# Takes the messages of a server, as systemd would.
listen_for_messages() {
    rm -f "$scratch/messages"
    python3 - "$root/run/notify" "$scratch/messages" <<'PYTHON' &
import os, socket, sys
if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
with open(sys.argv[2], "a", buffering=1) as messages:
    while True:
        messages.write(manager.recv(4096).decode() + "\n")
PYTHON
    listener=$!
    wait_for test -e "$scratch/messages"
}

wait_for() {
    for _ in $(seq 600); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    echo "this did not come: $*"
    return 1
}

# Becomes the unit's command line, run as its user, with its settings and in its directory.
become_unit() {
    local variables
    mapfile -t variables < <(grep -v -e '^#' -e '^$' "$root$(unit EnvironmentFile)")
    # shellcheck disable=SC2046
    exec chroot "$root" env -i PATH=/usr/bin:/bin NOTIFY_SOCKET=/run/notify WATCHDOG_USEC=1000000 "${variables[@]}" \
        setpriv --reuid "$(unit User)" --regid "$(unit Group)" --init-groups --no-new-privs --bounding-set=-all \
        sh -c 'umask "$0" && cd "$1" && shift && exec "$@"' "$(unit UMask)" "$(unit WorkingDirectory)" $(unit ExecStart)
}

# The version before may not do so.
speaks_to_systemd() { [ -z "${OLDER:-}" ] || [ "$(inside dpkg-query -W -f '${Version}' lunas)" != "$(dpkg-deb -f "$OLDER" Version)" ]; }

start() {
    listen_for_messages
    become_unit >"$scratch/server.log" 2>&1 &
    server=$!
    wait_for curl -fsS http://127.0.0.1:8080/readyz
    if speaks_to_systemd; then
        wait_for grep -q READY=1 "$scratch/messages"
        wait_for grep -q WATCHDOG=1 "$scratch/messages"
    fi
}

stop() {
    kill -TERM "$server"
    wait "$server" || { echo "the server ended with $?"; exit 1; }
    if speaks_to_systemd; then
        grep -q STOPPING=1 "$scratch/messages"
    fi
    kill "$listener"
    wait "$listener" || true
}

# A member of the JSON on standard input.
member() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

take_a_payment() {
    local project
    project=$(inside lunasctl project create --name Toko --environment sandbox --json | member id)
    key=$(inside lunasctl key create --project "$project" --name server --json | member key)
    api() { curl -fsS "http://127.0.0.1:8080/v1/$1" -H "Authorization: Bearer $key" "${@:2}"; }
    payment=$(api payments -H 'Content-Type: application/json' -H 'Idempotency-Key: first' \
        -d "{\"project_id\":\"$project\",\"reference\":\"A-1\",\"amount\":15000,\"payment_method\":{\"type\":\"qris\"}}" | member id)
    api "sandbox/payments/$payment/simulate" -H 'Content-Type: application/json' -d '{"outcome":"paid"}' >/dev/null
    payment_is_there
}

payment_is_there() {
    is "the payment" "$(api "payments/$payment" | member status)" paid
}

files_are_as_promised() {
    (cd "$dist" && sha256sum --quiet --check SHA256SUMS)
    ok "checksums are right"
    python3 - "$dist"/*.cdx.json <<'PYTHON'
import json, sys
sbom = json.load(open(sys.argv[1]))
assert sbom["bomFormat"] == "CycloneDX" and sbom["metadata"]["component"]["name"] == "lunas", sbom["metadata"]
components = {component["name"]: component for component in sbom["components"]}
for name in ["tokio", "rusqlite", "rustls"]:
    assert components[name]["purl"].startswith(f"pkg:cargo/{name}@"), name
for name in ["testkit", "pgcluster", "proptest"]:
    assert name not in components, f"{name} is in no package"
print(len(components), "components")
PYTHON
    ok "the SBOM names what is in the program and nothing else"
    tar -xzf "$dist"/lunas-*.tar.gz -C "$scratch"
    version=$("$scratch"/lunas-*/lunas --version)
    is "the archive's version" "${version% (*)}" "lunas $(dpkg-deb -f "$package" Version | cut -d - -f 1)"
    mkdir "$scratch/image"
    tar --numeric-owner -xpf "$dist/image.tar" -C "$scratch/image"
    # A static program has no interpreter.
    is "interpreter" "$(readelf --program-headers "$scratch/image/usr/bin/lunas" | grep INTERP || true)" ""
    is "the image's version" "$("$scratch/image/usr/bin/lunas" --version)" "$version"
    ok "archive and image have the package's version, and the image a static program"
    is "owners" "$(dpkg-deb --fsys-tarfile "$package" | tar --numeric-owner -tv | awk '{ print $2 }' | sort -u)" 0/0
    ok "files of the package belong to root"
    is "what of the image is not root's" "$(cd "$scratch/image" && find . ! -uid 0 -o ! -gid 0)" ./var/lib/lunas
    is "what of the image others may write" "$(cd "$scratch/image" && find . -perm /022)" ./tmp
    ok "files of the image belong to root, but for the directory of the data"
}

older_package() {
    if [ -n "${OLDER:-}" ]; then
        echo "$OLDER"
        return
    fi
    dpkg-deb --raw-extract "$package" "$scratch/older"
    sed -i 's/^Version: .*/Version: 0.0.1-1/' "$scratch/older/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$scratch/older" "$scratch/older.deb" >/dev/null
    echo "$scratch/older.deb"
}

# dpkg runs in the copy, which sees the same paths but for what was mounted.
install_package() {
    cp "$1" "$root/tmp/package.deb"
    inside dpkg --install /tmp/package.deb >"$scratch/dpkg.log" 2>&1
}

first_install() {
    install_package "$(older_package)"
    is "the user's shell" "$(inside getent passwd lunas | cut -d : -f 7)" /usr/sbin/nologin
    is "settings' directory" "$(mode /etc/lunas)" "750 root:lunas"
    is "settings" "$(mode /etc/lunas/lunas.env)" "640 root:lunas"
    is "data" "$(mode /var/lib/lunas)" "750 lunas:lunas"
    is "the length of the secret key" "$(sed -n 's/^LUNAS_SECRET_KEY=//p' "$root/etc/lunas/lunas.env" | tr -d '\n' | wc -c)" 44
    fails inside setpriv --reuid nobody --clear-groups cat /etc/lunas/lunas.env
    ok "a first install creates the user, the directories and a secret key that only it can read"
    listen_for_messages
    become_unit >"$scratch/server.log" 2>&1 &
    fails wait $!
    grep -q LUNAS_BASE_URL "$scratch/server.log"
    kill "$listener"
    ok "without its public address the server does not start, and says so"
    sed -i 's|^LUNAS_BASE_URL=$|LUNAS_BASE_URL=https://pay.example.com|' "$root/etc/lunas/lunas.env"
}

serves() {
    start
    is "the server's user" "$(mode "/proc/$server" | cut -d ' ' -f 2)" lunas:lunas
    take_a_payment
    is "the database" "$(mode /var/lib/lunas/lunas.db)" "600 lunas:lunas"
    inside lunasctl user create ops@example.com --operator >/dev/null
    stop
    ok "the unit's command line serves as its user, takes a payment and stops when asked"
}

upgrades() {
    local before
    before=$(settings)
    install_package "$package"
    is "the version" "$(inside lunas --version)" "$version"
    is "settings after an upgrade" "$(settings)" "$before"
    start
    payment_is_there
    inside lunasctl verify >/dev/null
    inside lunasctl user list | grep -q ops@example.com
    stop
    ok "an upgrade keeps data and settings, and every invariant holds"
    install_package "$package"
    inside /var/lib/dpkg/info/lunas.postinst configure >/dev/null
    inside /var/lib/dpkg/info/lunas.postinst configure "" >/dev/null
    is "settings after more installs" "$(settings)" "$before"
    ok "installing again changes nothing"
}

is_documented() {
    inside test -s /usr/share/man/man1/lunas.1.gz
    inside man --warnings --pager=cat lunas >"$scratch/man.txt" 2>"$scratch/man.log"
    grep -q serve "$scratch/man.txt"
    is "warnings about the manual" "$(cat "$scratch/man.log")" ""
    inside bash -n /usr/share/bash-completion/completions/lunas
    inside test -s /usr/share/zsh/vendor-completions/_lunas
    inside test -s /usr/share/fish/vendor_completions.d/lunas.fish
    ok "manual and completions are there"
    inside systemd-analyze verify /usr/lib/systemd/system/lunas.service
    ok "systemd accepts the unit"
}

removes() {
    local settings_before data_before
    settings_before=$(settings)
    data_before=$(sha256sum <"$root/var/lib/lunas/lunas.db")
    for way in --remove --purge; do
        inside dpkg "$way" lunas >"$scratch/dpkg.log" 2>&1
        fails inside test -e /usr/bin/lunas
        is "settings after $way" "$(settings)" "$settings_before"
        is "data after $way" "$(sha256sum <"$root/var/lib/lunas/lunas.db")" "$data_before"
        install_package "$package"
        start
        payment_is_there
        stop
        data_before=$(sha256sum <"$root/var/lib/lunas/lunas.db")
        ok "$way keeps data and settings, and a new install serves them again"
    done
}

# Docker is not needed for this: the Dockerfile copies a directory, sets a user and variables, and starts the program.
image_serves() {
    local image=$scratch/image variables
    mapfile -t variables < <(sed -n 's/^ENV //p' "$dist/../../Dockerfile" | tr ' ' '\n')
    env -i "${variables[@]}" LUNAS_BASE_URL=https://pay.example.com \
        LUNAS_SECRET_KEY="$(head -c 32 /dev/urandom | base64)" \
        "$(command -v chroot)" --userspec=65532:65532 "$image" /usr/bin/lunas serve >"$scratch/image.log" 2>&1 &
    server=$!
    wait_for curl -fsS http://127.0.0.1:8080/readyz
    is "the image's database" "$(stat -c %u "$image/var/lib/lunas/lunas.db")" 65532
    kill -TERM "$server"
    wait "$server"
    ok "the image's root serves with nothing but the program in it"
}

make_copy
package=$(ls "$dist"/*.deb)
files_are_as_promised
first_install
serves
upgrades
is_documented
removes
image_serves
echo "$passed passed, 0 failed"
