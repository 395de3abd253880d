package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
)

// Set is the API of one Kubernetes minor. It is read-only and safe for concurrent use.
//
// A schema file opens with a magic text. All numbers are unsigned varints; a string is the number of an entry of the string
// table, a type the number of a blob:
//
//	Magic │ strings │ minor │ types: n × (length, blob) │ names │ kinds │ groups │ resources
//	                             ▲                          │       │
//	                             └── read when asked for ───┴───────┘ definition name or GVK → type
//
// Load reads everything but the blobs; Kind and Named read the blobs that can be reached from the one they return. The files of
// descriptions are gzip streams, read when the first one is asked for; this one is not, because every program reads it as it
// starts: unpacking took a sixth of the time that a web page's engine needs for its first answer.
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
	types []*Type // by number; nil if not read yet. Everything reachable from an entry is read

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
	c := &coder{data: raw}
	if err := c.header(minor); err != nil {
		return nil, err
	}
	var x contents
	if c.contents(&x); c.err == nil && len(c.data) != 0 {
		c.fail()
	}
	if c.err != nil {
		return nil, c.err
	}
	s := &Set{minor: minor, strings: c.strings, blobs: x.blobs, names: make(map[string]int, len(x.names)),
		kinds: make(map[GVK]int, len(x.kinds)), groups: x.groups, resources: x.resources}
	for _, n := range x.names {
		s.names[n.name] = n.id
		if n.published {
			s.published = append(s.published, n.name)
		}
	}
	for _, k := range x.kinds {
		s.kinds[k.gvk] = k.id
	}
	s.types = make([]*Type, len(s.blobs))
	s.docs = texts{from: from, name: docsFile(minor)}
	s.prose = texts{from: proseData, name: "data/prose-" + minor + ".bin"}
	s.readable = sync.OnceValue(s.findReadable)
	return s, nil
}

// contents is the content of a schema file after its minor.
type contents struct {
	blobs     [][]byte // of the types
	names     []nameOf
	kinds     []kindOf
	groups    []Group
	resources []Resource
}

// nameOf maps a definition name to its type, kindOf a kind.
type (
	nameOf struct {
		name      string
		published bool
		id        int
	}
	kindOf struct {
		gvk GVK
		id  int
	}
)

func (c *coder) contents(x *contents) {
	list(c, &x.blobs, (*coder).bytes)
	list(c, &x.names, func(c *coder, n *nameOf) {
		c.str(&n.name)
		c.flags(&n.published)
		c.id(&n.id, len(x.blobs))
	})
	list(c, &x.kinds, func(c *coder, k *kindOf) {
		c.gvk(&k.gvk)
		c.id(&k.id, len(x.blobs))
	})
	list(c, &x.groups, func(c *coder, g *Group) {
		c.str(&g.Name)
		if c.strs(&g.Versions); len(g.Versions) == 0 {
			c.fail()
		}
	})
	list(c, &x.resources, (*coder).resource)
}

func (c *coder) resource(r *Resource) {
	c.gvk(&r.GVK)
	c.str(&r.Resource)
	c.str(&r.Singular)
	c.strs(&r.ShortNames)
	c.strs(&r.Categories)
	c.flags(&r.Namespaced)
	c.strs(&r.Verbs)
	c.gvk(&r.Storage)
	list(c, &r.Subresources, func(c *coder, sub *Subresource) {
		c.str(&sub.Name)
		c.gvk(&sub.GVK)
		c.strs(&sub.Verbs)
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

// Resources returns the resources that an API server serves by default: the core group first, then groups and versions in the order
// of Groups, each sorted by resource. The answer is shared: do not change it.
func (s *Set) Resources() []Resource { return s.resources }

// Readable returns the group versions that a server can read, sorted: those of the kinds that it serves, and those of the kinds
// that it can read only. It leaves out the core group and the groups of kinds that only servers send. The result is shared: do not
// change it.
func (s *Set) Readable() []GVK { return s.readable() }

func (s *Set) findReadable() []GVK {
	found := map[GVK]bool{}
	for k := range s.kinds { // order does not matter: it fills a map
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
	return slices.SortedFunc(maps.Keys(found), GVK.Compare)
}

// Names returns the names of the definitions of the published OpenAPI, sorted. The answer is shared: do not change it.
func (s *Set) Names() []string { return s.published }

// Kind returns the structure of a kind, or nil if the minor has none such. It also knows the kinds that are not
// resources: lists, every version's DeleteOptions and WatchEvent, Status, APIGroup and the like in v1, Table's
// companion PartialObjectMetadata in meta.k8s.io/v1, AdmissionReview and ConversionReview in v1 and v1beta1.
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
		c := &coder{data: s.blobs[order[i]], strings: s.strings}
		raw := fresh[order[i]]
		if c.typ(raw, len(s.blobs)); c.err != nil || len(c.data) != 0 {
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

// files is the source of schema files: the embedded ones, or a pack.
type files interface {
	ReadFile(name string) ([]byte, error)
}

// pack is files by name: the data of one minor that was not built in, in one piece.
//
//	length of the first file (4 bytes, big-endian) │ MINOR.bin │ docs-MINOR.bin
type pack map[string][]byte

// ReadFile returns one of the files.
func (p pack) ReadFile(name string) ([]byte, error) {
	content, ok := p[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return content, nil
}

func setFile(minor string) string  { return "data/" + minor + ".bin" }
func docsFile(minor string) string { return "data/docs-" + minor + ".bin" }

// Pack returns the data of a minor that is built in, for Register in a program that it is not built into.
func Pack(minor string) ([]byte, error) {
	set, err := data.ReadFile(setFile(minor))
	if err != nil {
		return nil, fmt.Errorf("schema: no data for Kubernetes %q: %w", minor, err)
	}
	docs, err := data.ReadFile(docsFile(minor))
	if err != nil {
		return nil, fmt.Errorf("schema: no descriptions for Kubernetes %q: %w", minor, err)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(set)))
	return append(append(out, set...), docs...), nil
}

// Register makes the data of a minor, as Pack returns it, known to Load. It does nothing for a minor that Load has read.
func Register(minor string, packed []byte) error {
	if known := Known(); !slices.Contains(known, minor) {
		return fmt.Errorf("schema: there is no Kubernetes %q here, only %v", minor, known)
	}
	s, err := parsePack(minor, packed)
	if err != nil {
		return err
	}
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.sets[minor] == nil {
		loaded.sets[minor] = s
	}
	return nil
}

// parsePack parses the result of Pack.
func parsePack(minor string, packed []byte) (*Set, error) {
	if len(packed) < 4 || uint64(binary.BigEndian.Uint32(packed)) > uint64(len(packed)-4) {
		return nil, errors.New("schema: the data is cut off: it is not what Pack returned")
	}
	n := binary.BigEndian.Uint32(packed)
	s, err := open(pack{setFile(minor): packed[4 : 4+n], docsFile(minor): packed[4+n:]}, minor)
	if err != nil {
		return nil, fmt.Errorf("schema: data of Kubernetes %s: %w", minor, err)
	}
	return s, nil
}
