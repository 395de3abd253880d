package check

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	overhttp "github.com/kubesim/kubesim/fake/kubectl"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/kustomize"
	"github.com/kubesim/kubesim/sim/object"
)

// Object is an object of a file.
type Object struct {
	object.Object
	File string // as named by the paths, or "-" for the standard input

	body []byte    // of the request
	doc  *document // nil if a kustomization has built the object
	line int       // of an imported object's document, or 0
	item int       // index in a List, or -1
	rank rank
}

// document is a document of a YAML stream.
type document struct {
	text []byte
	line int // of its first line in the file, from 1
	root *yaml.Node
}

// Sources are the objects in files, and findings about files that do not contain objects.
type Sources struct {
	Objects  []*Object
	Problems []Finding
}

// Read returns the objects in paths: files of YAML or JSON, directories with their subdirectories, and kustomizations. The path "-"
// is stdin. It returns an error if a path cannot be read. A file with invalid contents becomes one of the Sources' Problems.
func Read(paths []string, stdin io.Reader) (*Sources, error) {
	s := &Sources{}
	for _, path := range paths {
		if err := s.path(path, stdin); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Sources) path(path string, stdin io.Reader) error {
	if path == "-" {
		data, err := io.ReadAll(stdin)
		s.data(path, data, true)
		return err
	}
	if info, err := os.Stat(path); err != nil {
		return err
	} else if info.IsDir() {
		path = filepath.Clean(path) + string(filepath.Separator) // WalkDir does not follow a link without it
	}
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != path && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir():
			return s.folder(filepath.Clean(name))
		case name != path && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			return nil
		}
		data, err := os.ReadFile(name)
		s.data(name, data, name == path)
		return err
	})
}

// folder adds the objects of a directory with a kustomization, or the problem that a Helm chart must be rendered. For these it
// returns filepath.SkipDir. It returns nil for any other directory.
func (s *Sources) folder(dir string) error {
	if file := kustomize.File(overhttp.Disk{}, dir); file != "" {
		list, err := kustomize.Build(overhttp.Disk{}, dir, io.Discard)
		if err != nil {
			s.Problems = append(s.Problems, Finding{File: file, Level: Error, Message: err.Error()})
		}
		for _, obj := range list {
			s.Objects = append(s.Objects, &Object{Object: obj, File: file, body: object.JSON(map[string]any(obj)), item: -1})
		}
		return filepath.SkipDir
	}
	chart := filepath.Join(dir, "Chart.yaml")
	if _, err := os.Stat(chart); err != nil {
		return nil
	}
	s.Problems = append(s.Problems, Finding{File: chart, Level: Error,
		Message: "a Helm chart is not rendered: run helm template " + dir + " | kubesim check -"})
	return filepath.SkipDir
}

// data adds the objects of a file. If given is true, the user has named the file, and a document that is not an object is an error.
// Otherwise such a document is skipped with a note.
func (s *Sources) data(file string, data []byte, given bool) {
	for line, text := range codec.Documents(data) {
		doc := &document{text: text, line: line}
		list, isList, err := codec.Objects(text)
		if err != nil {
			at, message := doc.syntaxError(err)
			s.Problems = append(s.Problems, Finding{File: file, Line: at, Level: Error, Message: message})
		}
		for i, obj := range list {
			o := &Object{Object: obj, File: file, body: text, doc: doc, item: -1}
			if isList {
				o.item, o.body = i, object.JSON(map[string]any(obj))
			}
			if obj.Kind() != "" && obj.APIVersion() != "" {
				s.Objects = append(s.Objects, o)
				continue
			}
			f := o.finding(Error, "", "apiVersion and kind must be set")
			if !given {
				f.Level, f.Message = Note, "it has no apiVersion and kind, so it was skipped"
			}
			s.Problems = append(s.Problems, f)
		}
	}
}

// title returns the object's kind and name for messages, such as "Deployment shop/web".
func (o *Object) title() string {
	name := cmp.Or(o.Name(), o.GenerateName())
	if o.Namespace() != "" {
		name = o.Namespace() + "/" + name
	}
	return strings.TrimSpace(o.Kind() + " " + name)
}
