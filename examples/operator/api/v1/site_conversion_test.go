package v1

import (
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"

	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
)

// FuzzConversion checks that a v2 Site is unchanged after a client has read and written it as v1.
func FuzzConversion(f *testing.F) {
	f.Add("i:1", "a.example.com", "b.example.com", int32(2), int32(5), true)
	f.Add("", "", "", int32(0), int32(0), false)
	f.Add("i", "a.example.com", "", int32(0), int32(1), true)
	f.Fuzz(func(t *testing.T, image, first, second string, replicas, limit int32, scaled bool) {
		first, second = strings.ToValidUTF8(first, "?"), strings.ToValidUTF8(second, "?") // what JSON can say
		in := &v2.Site{Spec: v2.SiteSpec{Image: image}}
		in.Name, in.Labels = "s", map[string]string{"a": "b"}
		if first != "" { // the schema: hosts are names, each once
			in.Spec.Hosts = append(in.Spec.Hosts, first)
		}
		if first != "" && second != "" && first != second {
			in.Spec.Hosts = append(in.Spec.Hosts, second)
		}
		if scaled {
			in.Spec.Scale = &v2.Scale{Replicas: replicas, Max: limit}
		}
		old, out := &Site{}, &v2.Site{}
		if err := old.ConvertFrom(in.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		if err := old.ConvertTo(out); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(in.DeepCopy(), out) {
			t.Errorf("as v1: %+v\nbefore: %+v\nafter:  %+v", old.Spec, in, out)
		}
	})
}

// A change by an old client takes precedence over the preserved v2 fields.
func TestOldClientWins(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	in := &v2.Site{Spec: v2.SiteSpec{Hosts: []string{"a", "b"}, Scale: &v2.Scale{Replicas: 1, Max: 3}}}
	old, out := &Site{}, &v2.Site{}
	is.NoErr(old.ConvertFrom(in))
	old.Spec.Host = "b"
	is.NoErr(old.ConvertTo(out))
	is.Equal(out.Spec.Hosts, []string{"b"}) // the second one is the first now, and there once
	old.Spec.Host, old.Spec.Replicas = "", nil
	is.NoErr(old.ConvertTo(out))
	is.Equal(len(out.Spec.Hosts), 0)
	is.Equal(out.Spec.Scale, nil)
	old.Annotations[restAnnotation] = "{"
	is.True(old.ConvertTo(out) != nil) // and does not get away with nonsense
}
