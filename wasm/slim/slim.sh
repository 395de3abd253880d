#!/bin/sh
# slim.sh OUT writes OUT/slim.mod: the root's go.mod with a lighter protobuf, for the engine of the page. Build with
# `go build -modfile=OUT/slim.mod`. Run it in the root of the module.
#
#   google.golang.org/protobuf    -> OUT/protobuf: a copy with another internal/descfmt
#
# The printing of descriptors there keeps Go's linker from dropping methods that nobody calls (see the stand-in's comment).
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
go mod download google.golang.org/protobuf
protobuf=$(go list -m -f '{{.Dir}}' google.golang.org/protobuf)
rm -rf "$out/protobuf"
cp -r "$protobuf" "$out/protobuf"
chmod -R u+w "$out/protobuf"
rm "$out"/protobuf/internal/descfmt/*.go
cp wasm/slim/descfmt/descfmt.go.txt "$out/protobuf/internal/descfmt/descfmt.go"
cp go.mod "$out/slim.mod"
cp go.sum "$out/slim.sum"
go mod edit -replace "google.golang.org/protobuf=$out/protobuf" "$out/slim.mod"
