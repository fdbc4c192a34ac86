#!/bin/sh
# Runs a script under the project's own Node.js: sh tools/node.sh FILE [ARGUMENTS].
root=$(dirname "$(dirname "$(readlink -f "$0")")")
. "$root/tools/find-node.sh"
exec "$node" --disable-warning=ExperimentalWarning "$@"
