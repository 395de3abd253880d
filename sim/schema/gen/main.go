// Command gen writes the schema data of one Kubernetes minor, that of the k8s.io/* modules it is built with: v0.36.x is 1.36.
//
//	go run . -out ../data
//
//	Go types of k8s.io/api …, by reflection ─┐
//	openapi/1.36.json.gz: published OpenAPI ─┼─▶ schema.Type, schema.Resource ─▶ ../data/1.36.bin
//	openapi/default-1.36.json.gz: discovery ─┤
//	their source: constants of enums ────────┘
//	SwaggerDoc of the Go types ────────────────────────────────────────────────▶ ../data/docs-1.36.bin
//	their source: comments ────────────────────────────────────────────────────▶ ../data/prose-1.36.bin
//
// go.mod has the modules of schema.Default; a further minor has a module file with its versions beside it, its openapi/ files
// (TestRecord makes them) and a row in schema.Releases:
//
//	go run -modfile go-1.37.mod -tags since37 . -out ../data
//
// Only packages of stable versions are read. Packages that older minors do not have are in kinds_sinceNN.go; make generate builds
// each minor with the tags of all since then. The output holds no time and is sorted, so that the same input gives the same bytes.
// The format is described at schema.Set.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubesim/kubesim/sim/schema"
)

func main() {
	in := flag.String("openapi", "openapi", "`directory` with the published OpenAPI")
	out := flag.String("out", "../data", "`directory` to write to")
	record := flag.String("record", "", "only write to the directory of -openapi what the kube-apiserver at a `URL` publishes (KUBESIM_TOKEN)")
	flag.Parse()
	err := error(nil)
	if *record != "" {
		err = publisher{*record, os.Getenv("KUBESIM_TOKEN")}.record(*in)
	} else {
		err = generate(*in, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes the files of the minor that this program was built for.
func generate(in, out string) error {
	minor, err := builtFor()
	if err != nil {
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
	file := schema.File{Minor: minor, Types: w.order, Names: w.named, Kinds: w.kinds,
		Groups: served.groups, Resources: served.resources}
	if err := os.WriteFile(filepath.Join(out, minor+".bin"), file.Encode(), 0o644); err != nil {
		return err
	}
	texts, err := encodeProse(minor, w)
	if err != nil {
		return err
	}
	if err := writePacked(filepath.Join(out, "prose-"+minor+".bin"), texts); err != nil {
		return err
	}
	return writePacked(filepath.Join(out, "docs-"+minor+".bin"), encodeDocs(minor, w, served))
}
