package schema

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Set is the API of one Kubernetes minor. It is read-only and safe for concurrent use.
//
// A schema file opens with Magic. All numbers are unsigned varints; a string is the number of an entry of the string
// table, a type the number of a blob:
//
//	Magic │ strings │ minor │ types: n × (length, blob) │ names │ kinds │ groups │ resources
//	                             ▲                          │       │
//	                             └── read when asked for ───┴───────┘ definition name or GVK → type
//
// Load reads everything but the blobs; Kind and Named read the blobs that can be reached from the one they return. The
// files of descriptions are gzip streams, read when the first one is asked for; this one is not, because every program
// reads it as it starts: unpacking was a sixth of what a page's engine does before its first answer.
type Set struct {
	minor     string
	strings   []string
	blobs     [][]byte
	names     map[string]int
	kinds     map[GVK]int
	published []string
	groups    []Group
	resources []Resource
	readable  func() []GVK

	mu    sync.RWMutex
	types []*Type // by number; nil: not read yet. Everything reachable from an entry is in place

	docs  texts // the file docs-MINOR.bin
	prose texts // the file prose-MINOR.bin
}

var loaded = struct {
	sync.Mutex
	sets map[string]*Set
}{sets: map[string]*Set{}}

// Load returns the API of a Kubernetes minor ("1.36"). The Set of a minor is made once per process.
func Load(minor string) (s *Set, err error) {
	loaded.Lock()
	defer loaded.Unlock()
	if s = loaded.sets[minor]; s == nil {
		if s, err = open(data, minor); err != nil {
			return nil, err
		}
		loaded.sets[minor] = s
	}
	return s, nil
}

// Minors returns the minors that Load knows, oldest first.
func Minors() []string {
	loaded.Lock()
	defer loaded.Unlock()
	return slices.DeleteFunc(Known(), func(minor string) bool {
		_, err := fs.Stat(data, setFile(minor))
		return err != nil && loaded.sets[minor] == nil
	})
}

// open reads all of a schema file but the types. Descriptions come from the files beside it.
func open(from files, minor string) (*Set, error) {
	raw, err := from.ReadFile(setFile(minor))
	if err != nil {
		return nil, fmt.Errorf("schema: no data for Kubernetes %q: %w", minor, err)
	}
	r := &reader{data: raw}
	if err := r.header(minor); err != nil {
		return nil, err
	}
	s := &Set{minor: minor, strings: r.strings, blobs: r.table()}
	s.types = make([]*Type, len(s.blobs))
	s.docs = texts{from: from, name: docsFile(minor)}
	s.prose = texts{from: proseData, name: "data/prose-" + minor + ".bin"}
	s.readable = sync.OnceValue(s.findReadable)
	s.readIndex(r)
	s.readDiscovery(r)
	if r.err == nil && len(r.data) != 0 {
		r.fail()
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

// readIndex reads which type is behind a definition name and behind a kind.
func (s *Set) readIndex(r *reader) {
	n := r.count()
	s.names = make(map[string]int, n)
	for range n {
		name, published := r.str(), r.bool()
		s.names[name] = r.id(len(s.blobs))
		if published {
			s.published = append(s.published, name)
		}
	}
	n = r.count()
	s.kinds = make(map[GVK]int, n)
	for range n {
		gvk := r.gvk()
		s.kinds[gvk] = r.id(len(s.blobs))
	}
}

// readDiscovery reads groups and resources.
func (s *Set) readDiscovery(r *reader) {
	s.groups = list(r, func(r *reader) Group {
		g := Group{Name: r.str(), Versions: r.strs()}
		if len(g.Versions) == 0 {
			r.fail()
		}
		return g
	})
	s.resources = list(r, func(r *reader) Resource {
		return Resource{
			GVK: r.gvk(), Resource: r.str(), Singular: r.str(), ShortNames: r.strs(), Categories: r.strs(),
			Namespaced: r.bool(), Verbs: r.strs(), Storage: r.gvk(),
			Subresources: list(r, func(r *reader) Subresource { return Subresource{Name: r.str(), GVK: r.gvk(), Verbs: r.strs()} }),
		}
	})
}

// Release returns the row of Releases that the Set belongs to.
func (s *Set) Release() Release {
	r, _ := ReleaseOf(s.minor)
	return r
}

// Minor returns the Kubernetes minor, "1.36".
func (s *Set) Minor() string { return s.minor }

// Groups returns the groups of /apis as an API server lists them. The core group is not among them: /api has it.
// The answer is shared: do not change it.
func (s *Set) Groups() []Group { return s.groups }

// Resources returns what an API server serves by default: the core group first, then groups and versions in the
// order of Groups, each sorted by resource. The answer is shared: do not change it.
func (s *Set) Resources() []Resource { return s.resources }

// Readable returns the group versions that a server can read, sorted: those of the kinds that it serves and of those that it does
// not, apart from the core group and from what only servers send. The answer is shared: do not change it.
func (s *Set) Readable() []GVK { return s.readable() }

func (s *Set) findReadable() []GVK {
	found := map[GVK]bool{{Group: "admission.k8s.io", Version: "v1beta1"}: true} // whose kinds nobody lists
	for k := range s.kinds {                                                     // order does not matter: it fills a map
		found[GVK{Group: k.Group, Version: k.Version}] = true
	}
	for gv, kinds := range s.Release().Unserved { // order does not matter: it fills a map
		if kinds != "" {
			found[ParseGVK(gv, "")] = true
		}
	}
	maps.DeleteFunc(found, func(gv GVK, _ bool) bool {
		return gv.Group == "" || gv.Group == "meta.k8s.io" || gv.Group == "apidiscovery.k8s.io"
	})
	return slices.SortedFunc(maps.Keys(found), func(a, b GVK) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version))
	})
}

// Names returns the names of the definitions of the published OpenAPI, sorted. The answer is shared: do not change it.
func (s *Set) Names() []string { return s.published }

// Kind returns the structure of a kind, or nil if the minor has none such. It also knows the kinds that are not
// resources: lists, every version's DeleteOptions and WatchEvent, Status, APIGroup and the like in v1, Table's
// companion PartialObjectMetadata in meta.k8s.io/v1, AdmissionReview, ConversionReview.
func (s *Set) Kind(gvk GVK) *Type {
	if id, ok := s.kinds[gvk]; ok {
		return s.typeOf(id)
	}
	return nil
}

// Named returns the type with the OpenAPI definition name, such as "io.k8s.api.core.v1.PodSpec", or nil. It also
// knows types that are not in the published OpenAPI; their names are formed alike.
func (s *Set) Named(name string) *Type {
	if id, ok := s.names[name]; ok {
		return s.typeOf(id)
	}
	return nil
}

// typeOf returns a type complete with all it refers to. Damaged data is no type: a test reads all there is.
func (s *Set) typeOf(id int) *Type {
	s.mu.RLock()
	t := s.types[id]
	s.mu.RUnlock()
	if t != nil {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readLocked(id)
}

// readLocked reads a type and those it refers to that are not read yet, and puts them in place together. s.mu is held.
func (s *Set) readLocked(id int) *Type {
	fresh := map[int]*rawType{}
	order := []int{}
	visit := func(id int) {
		if s.types[id] == nil && fresh[id] == nil {
			fresh[id] = new(rawType)
			order = append(order, id)
		}
	}
	visit(id)
	for i := 0; i < len(order); i++ {
		r := &reader{data: s.blobs[order[i]], strings: s.strings}
		raw := fresh[order[i]]
		*raw = r.typ(len(s.blobs))
		if r.err != nil || len(r.data) != 0 {
			return nil
		}
		if raw.elem > 0 {
			visit(raw.elem - 1)
		}
		for _, f := range raw.fields {
			visit(f)
		}
	}
	for _, id := range order {
		s.types[id] = &fresh[id].Type
	}
	for _, id := range order {
		s.types[id].link(fresh[id], s.types)
	}
	return s.types[id]
}

// link replaces the numbers of types by types.
func (t *Type) link(raw *rawType, types []*Type) {
	if raw.elem > 0 {
		t.Elem = types[raw.elem-1]
	}
	for i, id := range raw.fields {
		t.Fields[i].Type = types[id]
	}
	if t.Kind == Struct {
		t.complete()
	}
}
