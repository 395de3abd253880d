package object

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestParseKeepsIntegers(t *testing.T) {
	is := is.New(t)
	o, err := Parse([]byte(`{"max":9223372036854775807,"one":1,"float":1.0,"half":0.5,"a":[1,null,true]}`))
	is.NoErr(err)                      // an object
	is.Equal(o["max"], int64(1<<63-1)) // not rounded
	is.Equal(o["one"], int64(1))       // an integer
	is.Equal(o["float"], 1.0)          // written as a fraction, so a float
	is.Equal(o["half"], 0.5)           // a float
	is.Equal(o.List("a")[0], int64(1)) // inside lists too
	_, err = Parse([]byte(`[]`))
	is.True(err != nil) // not an object
}

// The managedFields of an object may be nested deeper than the object, which may be nested as deep as a request body.
func TestParseDeep(t *testing.T) {
	is := is.New(t)
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "{ }" + strings.Repeat("}", n) }
	v, err := ParseValue([]byte(deep(10010)))
	is.NoErr(err)
	is.Equal(len(JSON(v)), len(JSON(Raw(deep(10010))))) // printed, too
	_, err = ParseValue([]byte(deep(20000)))
	is.True(err != nil) // there is an end
}

func TestGetAndSet(t *testing.T) {
	is := is.New(t)
	o := Object{}
	o.Set("web", "metadata", "name")
	is.Equal(o.Name(), "web")                        // the way is made
	is.Equal(o.String("metadata", "name", "x"), "")  // a string has no fields
	is.True(!o.SetDefault("db", "metadata", "name")) // there is one
	o.Set(nil, "metadata", "namespace")
	is.True(o.SetDefault("n", "metadata", "namespace")) // null counts as none
	o.Remove("metadata", "name")
	_, ok := o.Get("metadata", "name")
	is.True(!ok) // gone
	o.Remove("spec", "replicas")
	is.Equal(len(o), 1)                        // removing nothing makes nothing
	is.Equal(Object(nil).Map("metadata"), nil) // a nil object is empty
}

func TestSetMetaRemovesEmptyValues(t *testing.T) {
	is := is.New(t)
	o := Object{}
	o.SetMeta("generation", int64(0))
	o.SetMeta("uid", "")
	o.SetMeta("deletionGracePeriodSeconds", int64(0))
	is.Equal(string(JSON(o)), `{"metadata":{"deletionGracePeriodSeconds":0}}`) // only the grace period may be zero
}

func TestCopyIsDeep(t *testing.T) {
	is := is.New(t)
	o, err := Parse([]byte(`{"a":{"b":[{"c":1}]}}`))
	is.NoErr(err) // an object
	c := o.Copy()
	c.Map("a")["b"].([]any)[0].(map[string]any)["c"] = int64(2)
	is.Equal(string(JSON(o)), `{"a":{"b":[{"c":1}]}}`) // the original is as it was
	is.Equal(Object(nil).Copy(), nil)                  // nil stays nil
}

// The caller of Copy may modify everything in the copy except the sets of its managedFields, which are shared.
func TestCopySharesSets(t *testing.T) {
	is := is.New(t)
	const text = `{"fieldsV1":{"a":{}},"metadata":{"fieldsV1":{"b":{}},"managedFields":[{"fieldsV1":{"f:c":{}},"manager":"m"},null]}}`
	o, err := Parse([]byte(text))
	is.NoErr(err)
	c := o.Copy()
	is.True(Equal(map[string]any(c), map[string]any(o)))
	entry := func(o Object) Object { return As(o.List("metadata", "managedFields")[0]) }
	is.True(Same(entry(c)["fieldsV1"], entry(o)["fieldsV1"])) // the set of a manager
	c.Map("fieldsV1")["changed"] = true
	c.Map("metadata", "fieldsV1")["changed"] = true
	entry(c)["manager"], entry(c)["fieldsV1"] = "n", map[string]any{}
	c.List("metadata", "managedFields")[1] = "changed"
	is.Equal(string(JSON(o)), text) // everything else is its own
}

func TestEqual(t *testing.T) {
	tests := []struct {
		a, b            string
		equal, semantic bool
	}{
		{`{"a":1}`, `{"a":1}`, true, true},
		{`{"a":1}`, `{"a":1.0}`, false, false},
		{`{"a":null}`, `{}`, false, true},
		{`{}`, `{"a":[]}`, false, true},
		{`{"a":{}}`, `{"a":[]}`, false, true},
		{`{"a":0}`, `{}`, false, false},
		{`{"a":{"b":null}}`, `{}`, false, true},
		{`{"a":{"b":{"c":[]}}}`, `{"a":{"b":{}}}`, false, true},
		{`{"a":[{}]}`, `{}`, false, false},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false, false},
		{`{"a":1}`, `{"a":{}}`, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.a+" "+tt.b, func(t *testing.T) {
			is := is.New(t)
			a, err := ParseValue([]byte(tt.a))
			is.NoErr(err) // JSON
			b, err := ParseValue([]byte(tt.b))
			is.NoErr(err)                              // JSON
			is.Equal(Equal(a, b), tt.equal)            // exactly the same
			is.Equal(Equal(b, a), tt.equal)            // both ways
			is.Equal(SemanticEqual(a, b), tt.semantic) // the same to a Go struct
			is.Equal(SemanticEqual(b, a), tt.semantic) // both ways
		})
	}
}

// FuzzJSON checks that parsed values are printed as encoding/json prints them.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1.5,-0.0,1e21,1e-7,null,true]}`, `"<>&\u2028\u0000\ud800é"`, `100000000000000000000`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var plain any
		if json.Unmarshal([]byte(text), &plain) != nil {
			return
		}
		is := is.New(t)
		v, err := ParseValue([]byte(text))
		is.NoErr(err) // texts that encoding/json accepts can be read
		want, err := json.Marshal(v)
		is.NoErr(err)                           // only JSON values
		is.Equal(string(JSON(v)), string(want)) // printed alike
		is.True(Equal(v, Copy(v)))              // a copy is the same
	})
}
