#!/bin/sh
# Makes this clone ready: npm packages, and the named extras (kubectl, iproute2, nftables, iptables, ipvs, openssl, curl,
# helm, promtool, schemas, umoci). Does nothing when all is there.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cd "$root"

npm_packages() { # FOLDER
  lock=$(sha256sum "$1/package-lock.json" | cut -d' ' -f1)
  [ "$(cat "$1/node_modules/.pointsman-lock" 2>/dev/null || true)" = "$lock" ] && return 0
  echo "setup: installing npm packages in $1" >&2
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
  echo "$lock" > "$1/node_modules/.pointsman-lock"
}
npm_packages .

need_package() { # PROGRAM PACKAGE
  command -v "$1" >/dev/null 2>&1 && return 0
  [ -x "/usr/sbin/$1" ] && return 0
  echo "setup: installing Debian package $2" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y --no-install-recommends "$2" >/dev/null 2>&1 && return 0
  apt-get update >/dev/null && apt-get install -y --no-install-recommends "$2" >/dev/null
}

for extra in "$@"; do
  case $extra in
    iproute2)
      need_package ip iproute2
      need_package sysctl procps
      ;;
    nftables) need_package nft nftables ;;
    iptables) need_package iptables-save iptables ;;
    ipvs)
      need_package ipvsadm ipvsadm
      need_package ipset ipset
      ;;
    openssl) need_package openssl openssl ;;
    curl) need_package curl curl ;;
    kubectl) sh tools/kubectl.sh --prepare ;;
    umoci)
      need_package umoci umoci
      need_package capsh libcap2-bin
      ;;
    helm) sh tools/helm.sh --prepare ;;
    promtool) sh tools/promtool.sh --prepare ;;
    schemas) npm_packages tools/published-schemas ;;
    *)
      echo "setup: unknown extra '$extra': kubectl, iproute2, nftables, iptables, ipvs, openssl, curl, helm, promtool, schemas or umoci" >&2
      exit 2
      ;;
  esac
done
