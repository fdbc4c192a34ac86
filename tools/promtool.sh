#!/bin/sh
# Runs promtool: the one on PATH, else the one inside Debian's package prometheus, which is not installed: that would
# start a server.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cache=$root/.cache/promtool

if [ ! -x "$cache/promtool" ]; then
  mkdir -p "$cache"
  if command -v promtool >/dev/null 2>&1; then
    ln -sf "$(command -v promtool)" "$cache/promtool"
  else
    echo "setup: fetching promtool from Debian package prometheus" >&2
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    cd "$folder"
    apt-get download prometheus >/dev/null 2>&1 || { apt-get update >/dev/null && apt-get download prometheus >/dev/null 2>&1; }
    dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool > promtool
    chmod 755 promtool
    mv promtool "$cache/promtool"
    cd /
    rm -rf "$folder"
    trap - EXIT
  fi
fi
[ "${1:-}" = --prepare ] && exit 0
exec "$cache/promtool" "$@"
