// Command gen writes the schema data of one Kubernetes minor:
//
//	go run . -minor 1.36 -out ../data
//
//	Go types of k8s.io/api …, by reflection ─┐
//	openapi/1.36.json.gz: published OpenAPI ─┼─▶ schema.Type, schema.Resource ─▶ ../data/1.36.bin
//	openapi/default-1.36.json.gz: discovery ─┤
//	their source: constants of enums ────────┘
//	SwaggerDoc of the Go types ────────────────────────────────────────────────▶ ../data/docs-1.36.bin
//	their source: comments ────────────────────────────────────────────────────▶ ../data/prose-1.36.bin
//
// The Go types are those of the k8s.io/* modules that go.mod requires, so go.mod belongs to one minor: v0.36.x is
// Kubernetes 1.36, and gen refuses another -minor. A further minor needs its openapi/ file, a row in schema.Releases and
// a module file with its versions beside go.mod, named by the minor:
//
//	go run -modfile go-1.35.mod . -minor 1.35 -out ../data
//
// Only packages of stable versions are read: they are the same in every minor. The output holds no time and is
// sorted, so that the same input gives the same bytes. The format is described at schema.Set.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubesim/kubesim/sim/schema"
)

func main() {
	minor := flag.String("minor", schema.Default, "Kubernetes `minor` to read; go.mod must require its modules")
	in := flag.String("openapi", "openapi", "`directory` with the published OpenAPI")
	out := flag.String("out", "../data", "`directory` to write to")
	flag.Parse()
	if err := generate(*minor, *in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes the files of a minor.
func generate(minor, in, out string) error {
	if err := checkModules(minor); err != nil {
		return err
	}
	pub, err := readPublished(in, minor)
	if err != nil {
		return err
	}
	src, err := newSource()
	if err != nil {
		return err
	}
	w := newWalk(pub, src)
	if err := w.all(); err != nil {
		return err
	}
	served, err := readServed(in, minor, pub)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, minor+".bin"), encode(minor, w, served)); err != nil {
		return err
	}
	texts, err := encodeProse(minor, w)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, "prose-"+minor+".bin"), texts); err != nil {
		return err
	}
	return write(filepath.Join(out, "docs-"+minor+".bin"), encodeDocs(minor, w, served))
}
