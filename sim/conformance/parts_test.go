package conformance

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

func mustDecode(t *testing.T, text string) any {
	t.Helper()
	v, err := Decode([]byte(text))
	if err != nil {
		t.Fatalf("Decode(%s): %v", text, err)
	}
	return v
}

func TestDecodeAndEncode(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, out, ascii string }{
		{`{"b":1,"a":[1.0,1e5,1e16,1E-5,-0,-0.0],"b":2}`, `{"b": 2, "a": [1.0, 100000.0, 1e+16, 1e-05, 0, -0.0]}`, ""},
		{`123456789012345678901234567890`, `123456789012345678901234567890`, ""},
		{`"é\u0001\"\\\n😀"`, `"é\u0001\"\\\n😀"`, `"\u00e9\u0001\"\\\n\ud83d\ude00"`},
		{` [null,true,false,{},[]] `, `[null, true, false, {}, []]`, ""},
	}
	for _, tt := range tests {
		is := is.New(t)
		v := mustDecode(t, tt.in)
		is.Equal(Encode(v, false), tt.out) // as text
		if tt.ascii == "" {
			tt.ascii = tt.out
		}
		is.Equal(Encode(v, true), tt.ascii) // as ASCII
	}
	for _, bad := range []string{"", "a", "{} {}", `{"a":}`, "\"\xff\""} {
		is := is.New(t)
		_, err := Decode([]byte(bad))
		is.True(err != nil) // is not a JSON value
	}
}

func TestSubst(t *testing.T) {
	t.Parallel()
	vs := values{
		"ns":     "c-x",
		"create": mustDecode(t, `{"metadata":{"resourceVersion":"41","labels":{"a.b/c":"v","a":{"b":"w"}}},"items":[{"n":1.5}],"i":7}`),
		"v1.2":   mustDecode(t, `{"x":"dotted"}`),
	}
	tests := []struct{ in, want string }{
		{"/a/{{ns}}/{{ ns }}", "/a/c-x/c-x"},
		{"{{create.metadata.resourceVersion}}", "41"},
		{"{{rv+900:create.metadata.resourceVersion}}", "941"},
		{"{{rv+1:create.i}}", "8"},
		{"{{create.metadata.labels.a.b/c}}", "v"},
		{"{{create.metadata.labels.a.b}}", "w"},
		{"{{create.items.0}}", `{"n": 1.5}`},
		{"{{v1.2.x}}", "dotted"},
		{"{{repeat:3:ab}}", "ababab"},
	}
	for _, tt := range tests {
		is := is.New(t)
		got, err := vs.subst(tt.in)
		is.NoErr(err)
		is.Equal(got, tt.want) // the text with its values
	}
	for _, bad := range []string{"{{none.a}}", "{{create.items.9}}", "{{create.items.x}}", "{{create.none}}", "{{ns.a}}", "{{rv+1:ns}}"} {
		is := is.New(t)
		_, err := vs.subst(bad)
		is.True(err != nil) // an unknown value
	}
}

func TestParseCase(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, err := parseCase("# Title\n# more\n\n### a b\n# @watch events=2 seconds=1.5 end=1\n# a comment\n# @until status=404\n" +
		"# @sleep 0.5\n# @only . =a,b\n# @header ETag=*\n# @raw\n# @server 2\nGET /x y\nAccept: a: b\nEmpty:\n\nbody\n\n\n### c\n# @control expire\n")
	is.NoErr(err)
	is.Equal(c.Title, "Title") // the first comment
	is.Equal(len(c.Steps), 2)  // steps
	is.True(c.NeedsControl())  // it has a control
	is.True(c.NeedsSecond())   // and a step for the second server
	is.Equal(c.Steps[1].Control, "expire")
	is.Equal(c.Steps[0], Step{
		Name: "a b", Method: "GET", Target: "/x y", Body: "body", Second: true, Raw: true, Sleep: 500 * time.Millisecond,
		Headers: []Header{{"Accept", "a: b"}, {"Empty", ""}}, Keep: []string{"etag=*"}, Only: []Only{{".", "=a,b"}},
		Watch: &Watch{Events: 2, Within: 1500 * time.Millisecond, End: true}, Until: &Until{Status: "404", Within: 10 * time.Second},
	}) // every part of the step
}

// TestReduce checks @only, @ignore and @mask on one object.
func TestReduce(t *testing.T) {
	t.Parallel()
	const object = `{"a":{"x":1,"y":[]},"l":[{"n":"p","d":{"k":1}},{"n":"q","d":{"k":2}}]}`
	tests := []struct {
		step Step
		want string
	}{
		{Step{Ignore: []string{"a.x", "none.x"}}, `{"a": {"y": []}, "l": [{"n": "p", "d": {"k": 1}}, {"n": "q", "d": {"k": 2}}]}`},
		{Step{Ignore: []string{"l.n", "a"}}, `{"l": [{"d": {"k": 1}}, {"d": {"k": 2}}]}`},
		{Step{Ignore: []string{"l"}, Mask: []string{"a.x", "a.y"}}, `{"a": {"x": "<masked>", "y": []}}`},
		{Step{Ignore: []string{"l"}, Mask: []string{"*.x"}}, `{"a": {"x": "<masked>", "y": []}}`},
		{Step{Mask: []string{"l.1.d.k"}, Only: []Only{{"l", "n=q,r"}, {".", "=l"}}}, `{"l": [{"n": "q", "d": {"k": 2}}]}`},
		{Step{Only: []Only{{"l", "d.k=x"}, {"a", "=x"}}}, `{"a": {"x": 1}, "l": []}`},
	}
	for _, tt := range tests {
		is := is.New(t)
		v := mustDecode(t, object)
		is.NoErr(reduce(v, tt.step, nil))
		is.Equal(Encode(v, false), tt.want) // the reduced object
	}
}

// TestNormalise checks the responses of one case with one normaliser, in order.
func TestNormalise(t *testing.T) {
	t.Parallel()
	const uid = "6f2d1c54-8d4e-4b53-9f0e-0123456789ab"
	steps := []struct{ in, want string }{
		{`{"metadata":{"uid":"` + uid + `","resourceVersion":"41","namespace":"c-x","creationTimestamp":"2026-11-20T17:00:00Z"}}`,
			`{"metadata": {"uid": "<uid:1>", "resourceVersion": "<rv:1>", "namespace": "<ns>", "creationTimestamp": "<time>"}}`},
		{`{"metadata":{"resourceVersion":"50","continue":"abc"},"items":[{"metadata":{"resourceVersion":"41"}}]}`,
			`{"metadata": {"resourceVersion": "<listrv:1>", "continue": "<continue:1>"}, "items": [{"metadata": {"resourceVersion": "<rv:1>"}}]}`},
		{`{"message":"at 41, not 41.5 or v41 or a-41; (50) ` + uid + ` 2026-11-20T17:00:00.5+01:00"}`,
			`{"message": "at <rv:1>, not 41.5 or v41 or a-41; (<listrv:1>) <uid:1> <time>"}`},
		{`{"message":"too old resource version: 7 (9) Too large resource version: 9, current: 8"}`,
			`{"message": "too old resource version: <n> (<n>) Too large resource version: <n>, current: <n>"}`},
		{`{"metadata":{"generateName":"g-","name":"g-abcde"},"uid":"","resourceVersion":"0","clusterIP":"10.0.0.7","c-x":1}`,
			`{"metadata": {"generateName": "g-", "name": "<name:g-*:1>"}, "uid": "", "resourceVersion": "0", "clusterIP": "<ip>", "<ns>": 1}`},
		{`{"columnDefinitions":[{"name":"Name"},{"name":"Age"}],"rows":[{"cells":["g-abcde","5s"]}]}`,
			`{"columnDefinitions": [{"name": "Name"}, {"name": "Age"}], "rows": [{"cells": ["<name:g-*:1>", "<age>"]}]}`},
		{`{"columnDefinitions":null,"rows":[{"cells":["a","6s"]}]}`, `{"columnDefinitions": null, "rows": [{"cells": ["a", "<age>"]}]}`},
	}
	n := newNormaliser("c-x")
	for _, s := range steps {
		is := is.New(t)
		is.Equal(Encode(n.value(mustDecode(t, s.in), "", ""), false), s.want) // values have become labels
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	tests := []struct {
		want, got string
		lines     []string
	}{
		{`{"a":1}`, `{"a":1}`, nil},
		{`{"a":1}`, `{"a":1.0}`, []string{".a: want 1, got 1.0"}},
		{`{"a":null}`, `{}`, []string{".a: missing, want null"}},
		{`[1,2]`, `[1,3,4]`, []string{"[1]: want 2, got 3", "[2]: unexpected 4"}},
		{`1`, `"1"`, []string{`.: want 1, got "1"`}},
		{`{"managedFields":[{"manager":"a"},{"manager":"b"}]}`, `{"managedFields":[{"manager":"b"},{"manager":"a"}]}`, nil},
	}
	for _, tt := range tests {
		is := is.New(t)
		is.Equal(difference(mustDecode(t, tt.want), mustDecode(t, tt.got), ""), tt.lines) // one line per difference
	}
}

func TestBinary(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(binary([]byte("k8s\x00\x0a\x0b\x0a\x02v1\x12\x05Event...")), "<protobuf v1 Event>") // an envelope
	is.Equal(binary([]byte("k8s\x00\x0a\x07\x12\x05Event")), "<protobuf  Event>")                // without apiVersion
	is.Equal(binary([]byte("k8s\x00\x0a\xff\x0a")), "<protobuf  >")                              // cut short
	is.Equal(binary([]byte("k8s\x00")), "<binary>")                                              // too short
	is.Equal(binary([]byte{0, 0xff}), "<binary>")                                                // something else
}

func FuzzParseCase(f *testing.F) {
	f.Add("# t\n### a\n# @watch events=1\nGET /x\nA: b\n\nbody\n")
	f.Add("# @no-namespace\n### a\n# @control expire\n### b\n# @only . =a\nGET /{{a.b}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCase(text)
		if err != nil {
			return
		}
		for _, s := range c.Steps {
			_, _ = s.build(values{"ns": "c-x"}) // must not panic
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,1.5,"é",null,true]}`, `1e999`, `-0`, `{"a":{"managedFields":[{}]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Decode([]byte(Encode(v, true)))
		if text := Encode(v, false); err == nil && len(difference(v, again, "")) > 0 {
			t.Errorf("%s does not read back as itself", text)
		}
		n := newNormaliser("c-x")
		n.value(Clone(v), "", "")
	})
}
