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

// Set is the API of one Kubernetes minor version. It is read-only and safe for concurrent use.
//
// A schema file begins with a magic string. All numbers are unsigned varints. Strings are encoded as indices into the
// string table, and types as indices of blobs:
//
//	Magic │ strings │ minor │ types: n × (length, blob) │ names │ kinds │ groups │ resources
//	                             ▲                          │       │
//	                             └── read on first use ─────┴───────┘ definition name or GVK → type
//
// Load decodes everything except the blobs. Kind and Named decode the blobs that are reachable from the type they return.
// The files of descriptions are compressed with gzip and read on first use. The schema file is not compressed, because
// every program reads it at startup: decompression would take a sixth of the time until the first response in a web page.
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
	types []*Type // by number; nil if not decoded yet. All types reachable from an entry are decoded

	docs  texts // the file docs-MINOR.bin
	prose texts // the file prose-MINOR.bin
}

var loaded = struct {
	sync.Mutex
	sets map[string]*Set
}{sets: map[string]*Set{}}

// Load returns the API of a Kubernetes minor version, such as "1.36". Each Set is created only once per process. Load returns an
// error if the program does not contain the data of the version and it was not registered.
func Load(minor string) (s *Set, err error) {
	loaded.Lock()
	defer loaded.Unlock()
	return loadLocked(minor)
}

// loadLocked implements Load. The caller must hold loaded.
func loadLocked(minor string) (s *Set, err error) {
	if s = loaded.sets[minor]; s == nil {
		if s, err = open(data, minor); err != nil {
			return nil, err
		}
		loaded.sets[minor] = s
	}
	return s, nil
}

// Minors returns the minor versions that Load supports, oldest first.
func Minors() []string {
	loaded.Lock()
	defer loaded.Unlock()
	return slices.DeleteFunc(Known(), func(minor string) bool {
		_, err := fs.Stat(data, setFile(minor))
		return err != nil && loaded.sets[minor] == nil
	})
}

// open decodes a schema file except for the types. The descriptions in separate files are read later.
func open(from files, minor string) (*Set, error) {
	raw, err := from.ReadFile(setFile(minor))
	if err != nil {
		return nil, fmt.Errorf("schema: no data for Kubernetes %q: %w", minor, err)
	}
	s, err := readSet(raw, minor)
	if err != nil {
		return nil, err
	}
	s.docs = texts{from: from, name: docsFile(minor)}
	s.prose = texts{from: proseData, name: "data/prose-" + minor + ".bin"}
	return s, nil
}

// readSet decodes the content of a schema file except for the types.
func readSet(raw []byte, minor string) (*Set, error) {
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
	s.readable = sync.OnceValue(s.findReadable)
	return s, nil
}

// contents is the content of a schema file after the minor version.
type contents struct {
	blobs     [][]byte // of the types
	names     []nameOf
	kinds     []kindOf
	groups    []Group
	resources []Resource
}

// nameOf contains the type of each definition name, and kindOf the type of each kind.
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
	deprecated := r.Deprecated != ""
	if c.flags(&r.Namespaced, &r.Off, &deprecated); deprecated {
		c.str(&r.Deprecated)
	}
	c.strs(&r.Verbs)
	c.gvk(&r.Storage)
	list(c, &r.Subresources, func(c *coder, sub *Subresource) {
		c.str(&sub.Name)
		c.gvk(&sub.GVK)
		c.strs(&sub.Verbs)
	})
}

// Release returns the Release that the Set belongs to.
func (s *Set) Release() Release {
	r, _ := ReleaseOf(s.minor)
	return r
}

// Minor returns the Kubernetes minor version, such as "1.36".
func (s *Set) Minor() string { return s.minor }

// Groups returns the groups of /apis in the order of an API server. The core group is not included, because it is under
// /api. The result is shared and must not be modified.
func (s *Set) Groups() []Group { return s.groups }

// Resources returns the resources that an API server serves by default: the core group first, followed by the others in the
// order of Groups. The resources of each version are sorted by name. The result is shared and must not be modified.
func (s *Set) Resources() []Resource { return s.resources }

// Readable returns the group versions, sorted, of all kinds that a server can decode, whether it serves them or not. It omits
// the core group and the groups of kinds that only servers send. The result is shared and must not be modified.
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

// Names returns the names of the definitions in the published OpenAPI, sorted. The result is shared and must not be
// modified.
func (s *Set) Names() []string { return s.published }

// Kind returns the type of a kind, or nil if the kind does not exist in the minor version. It includes kinds that are not
// resources: lists, DeleteOptions and WatchEvent of every version, v1 kinds such as Status and APIGroup, PartialObjectMetadata
// and Table in meta.k8s.io/v1, and AdmissionReview and ConversionReview in v1 and v1beta1.
func (s *Set) Kind(gvk GVK) *Type {
	if id, ok := s.kinds[gvk]; ok {
		return s.typeOf(id)
	}
	return nil
}

// Versions returns the versions of a group, sorted, in which servers of the minor version can decode a kind. They do not serve all
// of these.
func (s *Set) Versions(group, kind string) []string {
	var versions []string
	for k := range s.kinds { // order does not matter: the result is sorted
		if k.Group == group && k.Kind == kind {
			versions = append(versions, k.Version)
		}
	}
	for gv := range s.Release().Unserved { // order does not matter: the result is sorted
		gvk := ParseGVK(gv, kind)
		if gvk.Group == group && s.Release().CanRead(gvk) {
			versions = append(versions, gvk.Version)
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}

// Named returns the type with the given OpenAPI definition name, such as "io.k8s.api.core.v1.PodSpec", or nil. The names
// of types that are not in the published OpenAPI have the same form.
func (s *Set) Named(name string) *Type {
	if id, ok := s.names[name]; ok {
		return s.typeOf(id)
	}
	return nil
}

// typeOf returns a type, after decoding it and all types that it refers to. If the data is damaged, it returns nil; a test decodes
// all types.
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

// readLocked decodes a type and the types that it refers to, and stores them together. The caller must hold s.mu. If the data of a
// type is damaged, it returns nil and stores nothing.
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

// link replaces the numbers of types in raw by pointers to the types.
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

// files provides schema files: the embedded files, or those in a pack.
type files interface {
	ReadFile(name string) ([]byte, error)
}

// pack contains the files of one minor version that is not built in, by name.
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

// Pack returns the data of a minor version, which must be built into this program. A program that does not contain the data can
// pass it to Register.
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

// Register makes the data of a minor version, which Pack has returned, available to Load. If that version is already loaded, the
// loaded data stays in use. Register returns an error if the version is not in Releases, or if the data is damaged.
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

// parsePack parses the result of Pack. It returns an error if the data is incomplete.
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
