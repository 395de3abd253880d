// Command gen writes the schema data of one Kubernetes minor version, which the version of the k8s.io/* modules determines:
// v0.36.x is 1.36.
//
//	go run . -out ../data
//
//	Go types of k8s.io/api …, by reflection ─┐
//	openapi/1.36.json.gz: published OpenAPI ─┼─▶ schema.Type, schema.Resource ─▶ ../data/1.36.bin
//	openapi/default-1.36.json.gz: discovery ─┤
//	their source: constants of enums ────────┘
//	SwaggerDoc of the Go types ────────────────────────────────────────────────▶ ../data/docs-1.36.bin
//	their source: comments ────────────────────────────────────────────────────▶ ../data/prose-1.36.bin
//	openapi/all-1.36.json.gz: OpenAPI and discovery with all versions ─────────▶ ../data/all-1.36.bin, docs-all-…, prose-all-…
//
// go.mod contains the modules of schema.Default. Each further minor has a separate module file in the same directory, its
// openapi/ files (which TestRecord creates) and a row in schema.Releases:
//
//	go run -modfile go-1.37.mod -tags since37 . -out ../data
//
// Only packages of stable versions are used, except for the files with all versions. Packages that older minors lack are imported in
// kinds_sinceNN.go, and those of one minor in kinds_NN.go. make
// generate builds each minor with the corresponding tags. The output contains no timestamps and is sorted, so it is
// reproducible. schema.Set describes the format.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubesim/kubesim/sim/schema"
)

func main() {
	in := flag.String("openapi", "openapi", "`directory` with the published OpenAPI")
	out := flag.String("out", "../data", "`directory` to write to")
	record := flag.String("record", "", "only write to the directory of -openapi what the kube-apiserver at a `URL` publishes (KUBESIM_TOKEN)")
	all := flag.Bool("all", false, "with -record: the server has --runtime-config=api/all=true, and the file is all-MINOR.json.gz")
	flag.Parse()
	err := error(nil)
	if *record != "" {
		err = publisher{*record, os.Getenv("KUBESIM_TOKEN")}.record(*in, *all)
	} else {
		err = generate(*in, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes the files of the minor version for which this program was built.
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
	if err := w.all(registrations); err != nil {
		return err
	}
	served, err := readServed(in, minor, pub)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, minor+".bin"), encode(minor, w, served), 0o644); err != nil {
		return err
	}
	texts, err := textsOf(w, served, moreDocs)
	if err != nil {
		return err
	}
	if err := texts.write(out, minor, minor); err != nil {
		return err
	}
	return generateAll(in, out, minor, pub, src, texts)
}

// generateAll writes the files of all versions of the API, if openapi/all-MINOR.json.gz exists. The descriptions that the files of
// the default versions have are left out.
func generateAll(in, out, minor string, pub *published, src *source, have texts) error {
	all, served, err := readAll(in, minor, pub)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	w := newWalk(all, src)
	if err := w.all(slices.Concat(registrations, offRegistrations)); err != nil {
		return err
	}
	if err := served.complete(w, minor); err != nil {
		return err
	}
	if err := writePacked(filepath.Join(out, "all-"+minor+".bin"), encode(minor, w, served)); err != nil {
		return err
	}
	more, err := textsOf(w, served, offDocs)
	if err != nil {
		return err
	}
	served.nameStable(more["docs"])
	for file, known := range have { // order does not matter: it deletes from maps
		maps.DeleteFunc(more[file], func(name string, _ map[string]string) bool { return known[name] != nil })
	}
	return more.write(out, minor, "all-"+minor)
}

func encode(minor string, w *walk, s *served) []byte {
	file := schema.File{Minor: minor, Types: w.order, Names: w.named, Kinds: w.kinds, Groups: s.groups, Resources: s.resources}
	return file.Encode()
}

// texts contains descriptions by file (prose, docs), definition and field.
type texts map[string]map[string]map[string]string

func textsOf(w *walk, s *served, more []swagger) (texts, error) {
	prose, err := proseOf(w)
	return texts{"prose": prose, "docs": docsOf(w, s, more)}, err
}

// write writes the two files of descriptions whose names end in name.
func (t texts) write(out, minor, name string) error {
	for _, file := range sortedKeys(t) {
		if err := writePacked(filepath.Join(out, file+"-"+name+".bin"), schema.EncodeDocs(minor, t[file])); err != nil {
			return err
		}
	}
	return nil
}
