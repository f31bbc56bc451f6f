#!/bin/sh
# Installs the Debian packages that are missing, when it may; otherwise names the exact command and does nothing.
# usage: setup.sh PACKAGE…
missing=
for p in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ]; then
    run=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    run=sudo
else
    echo "missing packages; install them with:" >&2
    echo "  sudo apt-get install$missing" >&2
    exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -qq && $run apt-get install -y -qq --no-install-recommends $missing >/dev/null
