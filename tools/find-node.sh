# Sourced with $root set; sets $node to a Node.js of at least version 26, or ends with one clear line.
case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) arch=none ;;
esac
node=$root/node_modules/node-linux-$arch/bin/node
if [ ! -x "$node" ]; then
  node=$(command -v node || true)
  major=$("${node:-false}" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
  if [ "$major" -lt 26 ]; then
    echo "pointsman: cannot start: Node.js 26 or newer is needed, found ${node:-none} (run 'npm run setup' in $root)" >&2
    exit 1
  fi
fi
