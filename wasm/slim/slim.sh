#!/bin/sh
# slim.sh OUT writes OUT/slim.mod: the root's go.mod with two lighter modules, for the engine of the page. Build with
# `go build -modfile=OUT/slim.mod`. Run it in the root of the module.
#
#   google.golang.org/protobuf        -> OUT/protobuf: a copy with another internal/descfmt
#   github.com/evanphx/json-patch/v5  -> OUT/jsonpatch: a copy with another internal/json
#
# The printing of descriptors in the former keeps Go's linker from dropping methods that nobody calls. The latter contains a copy of
# encoding/json, which is 20 kB of the compressed engine (see the comments of the stand-ins).
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cp go.mod "$out/slim.mod"
cp go.sum "$out/slim.sum"

# lighten MODULE NAME PACKAGE STANDIN copies a module to OUT/NAME, and replaces a package of it by one file.
lighten() {
	go mod download "$1"
	module=$(go list -m -f '{{.Dir}}' "$1")
	rm -rf "${out:?}/$2"
	cp -r "$module" "$out/$2"
	chmod -R u+w "$out/$2"
	rm "$out/$2/$3"/*.go
	cp "$4" "$out/$2/$3/standin.go"
	go mod edit -replace "$1=$out/$2" "$out/slim.mod"
}
lighten google.golang.org/protobuf protobuf internal/descfmt wasm/slim/descfmt/descfmt.go.txt
lighten github.com/evanphx/json-patch/v5 jsonpatch internal/json wasm/slim/patchjson/json.go.txt
