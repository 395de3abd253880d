package schema

import (
	"embed"
	"slices"
	"sync"
	"testing"

	"github.com/matryer/is"
)

func load(tb testing.TB) *Set {
	tb.Helper()
	s, err := Load(Default)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

var deployment = GVK{Group: "apps", Version: "v1", Kind: "Deployment"}

func TestLoad(t *testing.T) {
	is := is.New(t)
	s := load(t)
	again, err := Load(Default)
	is.NoErr(err)
	is.True(s == again)          // made once per process
	is.Equal(s.Minor(), Default) // knows its minor
	minors := Minors()
	is.True(slices.IsSorted(minors)) // oldest first
	is.Equal(minors, Known())        // all there is
	_, err = Load("1.2")
	is.True(err != nil) // no such minor
	is.True(s.Kind(GVK{Version: "v1", Kind: "Nope"}) == nil)
	is.True(s.Named("io.k8s.Nope") == nil)
	is.True(s.Kind(deployment) == s.Named("io.k8s.api.apps.v1.Deployment")) // the same type by kind and by name
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := open(data, Default); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKindFirst(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s, err := open(data, Default)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if s.Kind(deployment) == nil {
			b.Fatal("no Deployment")
		}
	}
}

func BenchmarkKindAgain(b *testing.B) {
	s := load(b)
	for b.Loop() {
		s.Kind(deployment)
	}
}

func TestSize(t *testing.T) {
	for name, limit := range map[string]int{"data/1.36.bin": 120 << 10, "data/docs-1.36.bin": 60 << 10} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			b, err := data.ReadFile(name)
			is.NoErr(err)
			is.True(len(b) <= limit) // small enough to be in every program that uses kubesim
		})
	}
}

// TestEverythingCanBeRead checks that all types in the embedded data can be decoded, as Kind and Named promise.
func TestEverythingCanBeRead(t *testing.T) {
	is := is.New(t)
	s, err := open(data, Default)
	is.NoErr(err)
	for id := range s.blobs {
		typ := s.readLocked(id)
		is.True(typ != nil) // each type can be read
		is.Equal(typ.Kind == List || typ.Kind == Map, typ.Elem != nil && typ.Kind != Any)
		for _, f := range typ.Fields {
			is.True(f.Type != nil)                   // each field has a type
			is.Equal(typ.Field(f.Name).Name, f.Name) // and is found
			is.True(f.Proto != 0 || f.Inline == nil) // and is inlined only where there is protobuf
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	is := is.New(t)
	s, err := open(data, Default)
	is.NoErr(err)
	const readers = 8
	got := make([]map[string]*Type, readers)
	var wg sync.WaitGroup
	for i := range readers {
		got[i] = map[string]*Type{}
		wg.Go(func() {
			for j := range s.Names() {
				name := s.Names()[(j+i*97)%len(s.Names())] // each in another order
				typ := s.Named(name)
				for _, f := range typ.Fields {
					_ = f.Type.Field(f.Name)
				}
				got[i][name] = typ
			}
			s.Doc(metaV1+"ObjectMeta", "name")
			s.Description(metaV1+"ObjectMeta", "name")
		})
	}
	wg.Wait()
	for i := range readers {
		is.Equal(got[i], got[0]) // all goroutines got the same types
	}
}

func TestDoc(t *testing.T) {
	is := is.New(t)
	s := load(t)
	is.Equal(s.Doc(coreV1+"Nope", "name"), "")          // no such type
	is.Equal(s.Doc(metaV1+"ObjectMeta", "nope"), "")    // no such field
	is.Equal(s.Doc(metaV1+"ObjectMeta", ""), "")        // only of fields
	is.Equal(s.Doc(metaV1+"ObjectMeta", "handler"), "") // RuntimeClass's column asks for this one
	for _, f := range s.Named(metaV1 + "ObjectMeta").Fields {
		is.True(f.Name == "selfLink" || s.Doc(metaV1+"ObjectMeta", f.Name) != "") // every field is described
	}
	is.Equal(s.Doc(coreV1+"PodStatus", "podIP"),
		"podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.")
	is.Equal(s.Doc("io.k8s.api.apps.v1.ReplicaSetStatus", "readyReplicas"),
		"The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.")
	is.True(s.Doc("io.k8s.api.storage.v1.StorageClass", "provisioner") != "")
	is.True(s.Doc(coreV1+"NodeSystemInfo", "kubeletVersion") != "")
}

// TestNoProse checks that a program without the file of descriptions still has those of Table columns.
func TestNoProse(t *testing.T) {
	is := is.New(t)
	s, err := open(data, Default)
	is.NoErr(err)
	s.prose.from = embed.FS{}
	is.Equal(s.Description(coreV1+"Pod", ""), "")
	is.Equal(s.Description(coreV1+"PodStatus", "podIP"), s.Doc(coreV1+"PodStatus", "podIP"))
}

// FuzzParse loads damaged schema files. It checks that the loader returns errors without a panic, and that all types of
// accepted data can be visited.
func FuzzParse(f *testing.F) {
	set, err := data.ReadFile("data/1.36.bin")
	if err != nil {
		f.Fatal(err)
	}
	docs, err := unpack(data, "data/docs-1.36.bin")
	if err != nil {
		f.Fatal(err)
	}
	for _, raw := range [][]byte{set, docs} {
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
	}
	f.Add(smallFile)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		parseDocs("1.36", raw)
		s, err := parse("1.36", raw)
		if err != nil {
			return
		}
		for id := range s.blobs {
			if typ := s.readLocked(id); typ != nil && typ.Kind == Struct {
				typ.Field("metadata")
			}
		}
		s.Groups()
	})
}

// smallFile is a schema file with a struct that has one field of the struct's own type.
var smallFile = []byte(magic + "\x03\x04\x01\x01\x06" + "1.36TX" + "\x00" + // strings 1.36, T, X; minor
	"\x01\x0e" + "\x00\x00\x00\x01\x01\x02\x02\x00\x00\x01" + "\x00\x02\x01\x00" + // one type: T with field X
	"\x01\x01\x00\x00" + "\x01\x01\x01\x01\x00" + "\x01\x01\x01\x01" + "\x00") // names, kinds, groups, resources

func TestSmallFile(t *testing.T) {
	is := is.New(t)
	s, err := parse("1.36", smallFile)
	is.NoErr(err)
	typ := s.Named("T")
	is.True(typ != nil)
	is.True(typ.Field("X").Type == typ) // a type may contain itself
	is.Equal(typ.Field("X").Proto, 1)
	is.Equal(s.Groups(), []Group{{"T", []string{"T"}}})
}

func TestDamagedData(t *testing.T) {
	is := is.New(t)
	raw, err := data.ReadFile("data/1.36.bin")
	is.NoErr(err)
	_, err = parse("1.35", raw)
	is.Equal(err.Error(), "schema: data of 1.36 where 1.35 was expected") // another minor's file
	for _, n := range []int{0, 5, len(magic), 1000, len(raw) / 2, len(raw) - 1} {
		_, err := parse("1.36", raw[:n])
		is.Equal(err, errDamaged) // truncated
	}
	_, err = parse("1.36", append(raw, 0))
	is.Equal(err, errDamaged) // trailing data
	is.Equal(len(parseDocs("1.36", raw)), 0)
}

func parse(minor string, raw []byte) (*Set, error) { return open(pack{setFile(minor): raw}, minor) }
