package codec

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// What DecodeJSON and Append make of each other is checked by checkReduced for every case of their tests.

func TestReduceTakesPartsOfTheOldObject(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	kind := typeOf(t, "", "v1", "Pod")
	read := func(label string) object.Object {
		obj, _, err := DecodeJSON([]byte(`{"metadata":{"labels":{"a":"`+label+`"},"annotations":{"b":"c"}},"spec":{"containers":[{"name":"c"}]}}`), kind)
		is.NoErr(err)
		return obj
	}
	old, obj := read("1"), read("2")
	is.True(Reduce(old, nil, kind))
	is.True(Reduce(obj, old, kind))
	is.Equal(obj.String("metadata", "labels", "a"), "2")                                               // what changed
	is.Equal(old.String("metadata", "labels", "a"), "1")                                               // changed in one of them
	is.Equal(address(obj.Map("spec")), address(old.Map("spec")))                                       // the rest is shared
	is.Equal(address(obj.Map("metadata", "annotations")), address(old.Map("metadata", "annotations"))) // as deep as it can be
	is.True(address(obj.Map("metadata")) != address(old.Map("metadata")))
}

func TestReduceFindsWhatIsReadAsAnotherValue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		value any
		want  bool
	}{
		{"an integer", int64(1), true},
		{"a fraction", 1.5, true},
		{"a whole number in a float", 1.0, false}, // is printed 1
		{"another type of integer", 1, false},
		{"text", "é", true},
		{"broken text", "\xff", false}, // is printed U+FFFD
		{"a list", []any{nil, true, "\xff"}, false},
	} {
		is := is.New(t)
		is.Equal(Reduce(object.Object{"spec": map[string]any{"x": tt.value}}, nil, nil), tt.want) // tt.name
	}
}

// TestFieldSetsAreShared reads what was stored: the sets of managed fields are the very same, until they are forgotten.
func TestFieldSetsAreShared(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	kind := typeOf(t, "", "v1", "ConfigMap")
	const text = `{"metadata":{"managedFields":[{"manager":"TestFieldSetsAreShared","fieldsV1":{"f:data":{"f:TestFieldSetsAreShared":{}}}}]}}`
	set := func(obj object.Object) map[string]any {
		return object.Object(obj.List("metadata", "managedFields")[0].(map[string]any)).Map("fieldsV1")
	}
	first, _, err := DecodeJSON([]byte(text), kind)
	is.NoErr(err)
	is.True(Reduce(first, nil, kind))
	second, _, err := DecodeJSON([]byte(text), kind)
	is.NoErr(err)
	is.Equal(address(set(first)), address(set(second)))                           // one value
	is.Equal(string(Append(nil, first, kind)), string(Append(nil, second, kind))) // one text

	var small memory
	for i := range setsMax + 1 {
		small.learn(map[string]any{"f:" + string(rune('a'+i)): map[string]any{}})
	}
	is.Equal(len(small.byText), 1) // it does not grow without end
	is.Equal(len(small.byValue), 1)
	is.Equal(string(small.append(nil, map[string]any{"f:x": map[string]any{}})), `{"f:x":{}}`) // what it does not know is printed all the same
}
