#!/bin/sh
# Prints deploy/manifests/pointsman.yaml: what the chart renders to by default.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
echo '# Made by tools/manifests.sh from deploy/chart/pointsman: change it there. How to use it: README.md beside this file.'
sh "$root/tools/helm.sh" template pointsman "$root/deploy/chart/pointsman" --namespace kube-system \
  --values "$root/deploy/manifests/values.yaml" | sed '/^# Source: /d'
