package kind

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

func TestServer(t *testing.T) {
	is := is.New(t)
	older, err := Server("1.34", map[string]bool{"VolumeLimitScaling": true})
	is.NoErr(err)
	newer, err := Server("1.36", nil)
	is.NoErr(err)
	is.True(older.Gates["VolumeLimitScaling"] && !newer.Gates["VolumeLimitScaling"]) // one gate set explicitly, one off by default
	is.True(!older.Gates["ImageVolume"] && newer.Gates["ImageVolume"])               // on since 1.35
	is.Equal(older.Minor, 34)
	_, err = Server("1.36", map[string]bool{"X": true})
	is.True(err != nil)
	_, err = Server("latest", nil)
	is.True(err != nil)
}

// TestKnownGates checks that fields which the release lacks are not dropped.
func TestKnownGates(t *testing.T) {
	is := is.New(t)
	set, err := schema.Load("1.36")
	is.NoErr(err)
	left := known([]Gate{
		{Name: "A", Fields: []string{"spec.evictionResponders", "spec.hostnameOverride"}},
		{Name: "B", Fields: []string{"spec.containers.*.livenessProbe.httpGet.protocol"}},
		{Name: "C", Fields: []string{"spec.containers.*.lifecycle.stopSignal?"}},
	}, set.Kind(schema.GVK{Version: "v1", Kind: "Pod"}))
	is.Equal(left, []Gate{{Name: "A", Fields: []string{"spec.hostnameOverride"}}, {Name: "C", Fields: []string{"spec.containers.*.lifecycle.stopSignal?"}}})
}

// TestDropGated checks that a field is dropped unless the stored object uses a field of the same gate.
func TestDropGated(t *testing.T) {
	off := fieldsOf([]Gate{{Fields: []string{"a.*.b.c?", "d"}}, {Fields: []string{"a.*.e"}}})
	for _, c := range [][3]string{
		{`{"a":[{"b":{"c":1}},{"b":{"c":1,"x":2}},{}],"d":3}`, ``, `{"a":[{},{"b":{"x":2}},{}]}`},
		{`{"a":{"k":{"b":{"c":1}}}}`, `{"a":[]}`, `{"a":{"k":{}}}`},
		{`{"a":[{"b":{"c":1}}]}`, `{"d":0}`, `{"a":[{"b":{"c":1}}]}`},
		{`{"d":1,"a":[{"e":1,"f":2}]}`, `{"a":[{},{"b":{"c":0}}]}`, `{"a":[{"f":2}],"d":1}`}, // field of another gate
		{`{"a":"text","d":null}`, ``, `{"a":"text"}`},
	} {
		is := is.New(t)
		obj, err := object.Parse([]byte(c[0]))
		is.NoErr(err)
		var old object.Object
		if c[1] != "" {
			old, err = object.Parse([]byte(c[1]))
			is.NoErr(err)
		}
		off.drop(obj, old)
		is.Equal(string(object.JSON(map[string]any(obj))), c[2])
	}
}
