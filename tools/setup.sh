#!/bin/sh
# Makes this clone ready: npm packages, and the named extras (kubectl, iproute2, nftables, openssl, curl). Does nothing when all is there.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cd "$root"

lock=$(sha256sum package-lock.json | cut -d' ' -f1)
if [ "$(cat node_modules/.pointsman-lock 2>/dev/null || true)" != "$lock" ]; then
  echo "setup: installing npm packages" >&2
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  echo "$lock" > node_modules/.pointsman-lock
fi

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
    openssl) need_package openssl openssl ;;
    curl) need_package curl curl ;;
    kubectl) sh tools/kubectl.sh --prepare ;;
    *) echo "setup: unknown extra '$extra': kubectl, iproute2, nftables, openssl or curl" >&2; exit 2 ;;
  esac
done
