package boot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

func options() Options {
	return Options{Minor: schema.Default, At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Port: Port, Last: 4004, Aggregate: true,
		Servers: []Server{{Host, AddressBase + "1"}}}
}

// all returns the objects of a store by key.
func all(is *is.I, o Options) map[string]object.Object {
	store, err := Store(o)
	is.NoErr(err)
	view, err := store.At(0)
	is.NoErr(err)
	found := map[string]object.Object{}
	view.Range("", "", func(kv *mvcc.KV) bool {
		obj, err := object.Parse(kv.Value())
		is.NoErr(err)
		found[kv.Key] = obj
		return true
	})
	return found
}

// The stored objects have the format of a server, and their metadata matches the store.
func TestStore(t *testing.T) {
	for _, minor := range schema.Known() {
		t.Run(minor, func(t *testing.T) {
			is := is.New(t)
			o := options()
			o.Minor = minor
			set, err := schema.Load(minor)
			is.NoErr(err)
			kinds := map[schema.GVK]*resource.Definition{}
			for _, d := range builtin.Definitions(set) {
				kinds[d.GVK] = d
			}
			store, err := Store(o)
			is.NoErr(err)
			is.Equal(store.Rev(), uint64(4004)) // where the first object of a user follows
			uids := map[string]bool{}
			rev := store.Compacted()
			is.NoErr(store.Events(rev, func(e *mvcc.Event) bool {
				obj, err := object.Parse(e.KV.Value())
				is.NoErr(err)
				d := kinds[schema.ParseGVK(obj.APIVersion(), obj.Kind())]
				is.True(d != nil && d.Hub == d)                                               // it is served, and stored in this version
				is.Equal(string(codec.Append(nil, obj, d.Layout())), string(e.KV.Value()))    // as it is printed
				is.Equal(e.Key, d.Key(obj.Namespace(), obj.Name()))                           // where it is looked for
				is.Equal(obj.String("metadata", "resourceVersion"), fmt.Sprint(e.Rev))        // its revision
				is.Equal(obj.String("metadata", "creationTimestamp"), "2026-01-02T03:04:05Z") // its time
				is.True(!strings.Contains(string(e.KV.Value()), "0001-01"))                   // no other time
				is.True(!strings.Contains(string(e.KV.Value()), noUID))
				is.True(!uids[obj.UID()]) // a uid of its own
				uids[obj.UID()] = true
				item := resource.ItemOf(d, e.KV)
				is.Equal(string(item.Bytes()), string(e.KV.Value()))
				for name, want := range obj.Labels() {
					value, _ := item.Label(name)
					is.Equal(value, want)
				}
				rev++
				return true
			}))
			is.Equal(rev, store.Rev()) // one object per revision
		})
	}
}

// Stores are independent of each other.
func TestStoreIsForked(t *testing.T) {
	is := is.New(t)
	a, err := Store(options())
	is.NoErr(err)
	a.Put("/registry/x", pack.New([]byte("{}")), nil)
	b, err := Store(options())
	is.NoErr(err)
	is.Equal(a.Rev(), b.Rev()+1)
	v, _ := b.At(0)
	is.Equal(v.Get("/registry/x"), nil)
}

func TestServers(t *testing.T) {
	is := is.New(t)
	o := options()
	is.Equal(all(is, o)["/registry/configmaps/kube-system/extension-apiserver-authentication"], nil) // there is no CA
	o.Authentication, o.Port = map[string]string{"requestheader-allowed-names": "[]"}, 8443
	o.Servers = []Server{{"vm", "192.0.2.1"}, {"vm-2", "192.0.2.2"}}
	found := all(is, o)
	published := found["/registry/configmaps/kube-system/extension-apiserver-authentication"]
	is.Equal(string(object.JSON(published["data"])), `{"requestheader-allowed-names":"[]"}`)
	is.Equal(string(object.JSON(first(published, "metadata", "managedFields")["fieldsV1"])), `{"f:data":{".":{},"f:requestheader-allowed-names":{}}}`)
	is.Equal(string(object.JSON(found["/registry/endpoints/default/kubernetes"]["subsets"])),
		`[{"addresses":[{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}],"ports":[{"name":"https","port":8443,"protocol":"TCP"}]}]`)
	slice := found["/registry/endpointslices.discovery.k8s.io/default/kubernetes"]
	is.Equal(len(slice.List("endpoints")), 2)
	is.Equal(first(slice, "ports")["port"], int64(8443))
	is.Equal(first(found["/registry/services/default/kubernetes"], "spec", "ports")["targetPort"], int64(8443))
	lease := found["/registry/leases.coordination.k8s.io/kube-system/apiserver-wlv32tlttr4jl3gtroqexyxapa"] // as on a machine vm
	is.Equal(lease.Labels()["kubernetes.io/hostname"], "vm")
	is.Equal(lease.String("spec", "renewTime"), "2026-01-02T03:04:05.000000Z")
	is.True(strings.HasPrefix(lease.String("spec", "holderIdentity"), "apiserver-wlv32tlttr4jl3gtroqexyxapa_"))
	is.True(!strings.HasSuffix(lease.String("spec", "holderIdentity"), lease.UID())) // that of the process is another one
}

func BenchmarkStore(b *testing.B) {
	for _, c := range []struct {
		name string
		step time.Duration
	}{{"same second", 0}, {"another second", time.Second}} {
		b.Run(c.name, func(b *testing.B) {
			o := options()
			for b.Loop() {
				o.At = o.At.Add(c.step)
				if _, err := Store(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTemplate(b *testing.B) {
	for b.Loop() {
		newTemplate(options())
	}
}
