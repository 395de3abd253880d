package schema

import (
	"fmt"
	"maps"
	"slices"
	"sort"
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

	mu    sync.RWMutex
	types []*Type // by number; nil: not read yet. Everything reachable from an entry is in place

	docs  texts // the file docs-MINOR.bin
	prose texts // the file prose-MINOR.bin
}

var loaded struct {
	sync.Mutex
	sets map[string]*Set
}

// Load returns the API of a Kubernetes minor ("1.36"). The Set of a minor is made once per process.
func Load(minor string) (*Set, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if s := loaded.sets[minor]; s != nil {
		return s, nil
	}
	s, err := open(minor)
	if err != nil {
		return nil, err
	}
	if loaded.sets == nil {
		loaded.sets = map[string]*Set{}
	}
	loaded.sets[minor] = s
	return s, nil
}

// Minors returns the minors that Load knows, oldest first.
func Minors() []string {
	loaded.Lock()
	defer loaded.Unlock()
	out := slices.Collect(maps.Keys(registered)) // sorted below
	entries, err := data.ReadDir("data")
	if err != nil {
		panic("schema: embedded data: " + err.Error())
	}
	for _, e := range entries {
		if minor := strings.TrimSuffix(e.Name(), ".bin"); isMinor(minor) && !slices.Contains(out, minor) {
			out = append(out, minor)
		}
	}
	sort.Slice(out, func(i, j int) bool { return len(out[i]) < len(out[j]) || len(out[i]) == len(out[j]) && out[i] < out[j] })
	return out
}

func isMinor(name string) bool {
	var major, minor int
	_, err := fmt.Sscanf(name, "%d.%d", &major, &minor)
	return err == nil && name == fmt.Sprintf("%d.%d", major, minor)
}

func open(minor string) (*Set, error) {
	var from files = data
	if p, ok := registered[minor]; ok {
		from = p
	}
	raw, err := from.ReadFile("data/" + minor + ".bin")
	if err != nil {
		return nil, fmt.Errorf("schema: no data for Kubernetes %q: %w", minor, err)
	}
	return parseFrom(from, minor, raw)
}

// parseFrom reads all of a schema file but the types. Descriptions come from the files beside it.
func parseFrom(from files, minor string, raw []byte) (*Set, error) {
	r := &reader{data: raw}
	if err := r.header(minor); err != nil {
		return nil, err
	}
	s := &Set{minor: minor, strings: r.strings, blobs: r.table()}
	s.types = make([]*Type, len(s.blobs))
	s.docs = texts{from: from, name: "data/docs-" + minor + ".bin"}
	s.prose = texts{from: proseData, name: "data/prose-" + minor + ".bin"}
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
	t, _ = s.readLocked(id)
	return t
}

// readLocked reads a type and those it refers to that are not read yet, and puts them in place together. s.mu is held.
func (s *Set) readLocked(id int) (*Type, error) {
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
			return nil, errDamaged
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
	return s.types[id], nil
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
