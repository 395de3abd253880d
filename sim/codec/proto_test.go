package codec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

func protoSet(t testing.TB) *schema.Set {
	set, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// protoKinds returns all resources, their lists, and the other kinds that are encoded as protobuf.
func protoKinds(set *schema.Set) []schema.GVK {
	kinds := []schema.GVK{{Version: "v1", Kind: "Status"}, {Version: "v1", Kind: "DeleteOptions"}, {Version: "v1", Kind: "APIGroupList"},
		{Version: "v1", Kind: "APIResourceList"}, {Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"},
		{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadataList"}}
	for _, r := range set.Resources() {
		list := r.GVK
		list.Kind += "List"
		kinds = append(kinds, r.GVK)
		if set.Kind(list) != nil {
			kinds = append(kinds, list)
		}
		for _, sub := range r.Subresources {
			kinds = append(kinds, sub.GVK)
		}
	}
	return kinds
}

// generator creates random values of a type in decoded form.
type generator struct {
	*rand.Rand
	density float64
	left    int // remaining number of fields; the limit is needed because some types contain themselves
}

func (g *generator) object(t *schema.Type, gvk schema.GVK) object.Object {
	obj := object.Object(g.structure(t))
	obj["kind"], obj["apiVersion"] = gvk.Kind, gvk.GV()
	return obj
}

func (g *generator) structure(t *schema.Type) map[string]any {
	m := map[string]any{}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Proto != 0 && g.left > 0 && g.Float64() < g.density {
			g.left--
			m[f.Name] = g.value(f.Type)
		}
	}
	return m
}

func (g *generator) value(t *schema.Type) any {
	one := func(values ...any) any { return values[g.Intn(len(values))] }
	switch t.Kind {
	case schema.Struct:
		return g.structure(t)
	case schema.List:
		list := make([]any, 1+g.Intn(2))
		for i := range list {
			list[i] = g.value(t.Elem)
		}
		return list
	case schema.Map:
		m := map[string]any{}
		for range 1 + g.Intn(3) {
			m[fmt.Sprint("k", g.Intn(9))] = g.value(t.Elem)
		}
		return m
	case schema.String:
		return one("", "x", "<é>", "a long text\n")
	case schema.Bool:
		return one(true, false)
	case schema.Int:
		return one(int64(0), int64(1), int64(-1), int64(1<<31-1), int64(-1<<31))
	case schema.Float:
		return one(0.5, -2e30, int64(3))
	case schema.Bytes:
		return one("AP8=", "eA==")
	case schema.Time:
		return one("1969-12-31T23:59:59Z", "2030-01-02T03:04:05Z")
	case schema.MicroTime:
		return one("1969-12-31T23:59:59.999999Z", "2030-01-02T03:04:05.000006Z")
	case schema.Duration:
		return one("0s", "1h0m0.5s", "-3ns")
	case schema.Quantity:
		return one("0", "1", "100m", "1Gi", "-5k")
	case schema.IntOrString:
		return one(int64(0), int64(-80), "50%", "")
	}
	return g.free(t)
}

func (g *generator) free(t *schema.Type) any {
	if t.Kind == schema.Any && t.Elem != nil {
		switch {
		case g.Intn(2) == 0:
			return g.structure(t.Elem)
		case t.GoType == schemaOrBool:
			return g.Intn(2) == 0
		case t.GoType == schemaOrStrings:
			return []any{"a", "b"}
		}
		return []any{g.structure(t.Elem)}
	}
	if t.Kind == schema.Any && g.Intn(2) == 0 {
		return int64(g.Intn(3))
	}
	return map[string]any{"f:a": map[string]any{}}
}

func TestProtoRoundTrip(t *testing.T) {
	set := protoSet(t)
	for _, gvk := range protoKinds(set) {
		t.Run(gvk.GV()+" "+gvk.Kind, func(t *testing.T) {
			is := is.New(t)
			typ := set.Kind(gvk)
			is.True(typ != nil) // the kind has a type
			for seed := range int64(12) {
				g := &generator{rand.New(rand.NewSource(seed)), float64(seed%6) / 6, 500}
				want := g.object(typ, gvk)
				body := AppendEnvelope(nil, gvk, AppendProto(nil, want, typ))
				got, gotKind, err := DecodeProto(body, set.Kind)
				is.NoErr(err)                                                           // printed messages can be read
				is.Equal(gotKind, gvk)                                                  // with its kind
				is.Equal(string(Append(nil, got, typ)), string(Append(nil, want, typ))) // the same JSON
				is.Equal(AppendEnvelope(nil, gvk, AppendProto(nil, got, typ)), body)    // the same bytes
			}
		})
	}
}

// TestProtoRecorded decodes requests of the conformance cases, which the real server accepts.
func TestProtoRecorded(t *testing.T) {
	set := protoSet(t)
	for text, want := range map[string]string{
		"azhzAAoPCgJ2MRIJQ29uZmlnTWFwEg4KBAoCcGISBgoBaxIBdhoAIgA=": `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"pb"},"data":{"k":"v"}}`,
		"azhzAAoMCgJ2MRIGU2VjcmV0EgUKAwoBcxoAIgA=":                 `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"}}`,
	} {
		is := is.New(t)
		body, err := base64.StdEncoding.DecodeString(text)
		is.NoErr(err)
		obj, gvk, err := DecodeProto(body, set.Kind)
		is.NoErr(err)
		is.Equal(string(Append(nil, obj, set.Kind(gvk))), want)
	}
}

func TestProtoBytes(t *testing.T) {
	set := protoSet(t)
	const meta = "\n\x10\n\x00\x12\x00\x1a\x00\"\x00*\x002\x008\x00B\x00" // no field of ObjectMeta that is written is a pointer
	for _, tt := range []struct {
		name, typ, obj, want string
	}{
		{"zero values that are no pointers are written", "ConfigMap", `{}`, meta},
		{"pointers are written when set", "ConfigMap", `{"immutable":false}`, meta + "\x20\x00"},
		{"map keys are sorted", "ConfigMap", `{"data":{"b":"2","a":"1"}}`, meta + "\x12\x06\n\x01a\x12\x011\x12\x06\n\x01b\x12\x012"},
		{"empty bytes are a value", "Secret", `{"data":{"a":""}}`, meta + "\x12\x05\n\x01a\x12\x00\x1a\x00"},
		{"times are messages", "Secret", `{"metadata":{"creationTimestamp":"1970-01-01T00:00:01Z"}}`,
			"\n\x14\n\x00\x12\x00\x1a\x00\"\x00*\x002\x008\x00B\x04\x08\x01\x10\x00\x1a\x00"},
		{"an inlined struct is a message", "Volume", `{"name":"v","hostPath":{"path":"p"}}`, "\n\x01v\x12\x05\n\x03\n\x01p"},
		{"an empty one too", "Volume", `{"name":"v"}`, "\n\x01v\x12\x00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			obj, err := object.Parse([]byte(tt.obj))
			is.NoErr(err)
			typ := set.Named("io.k8s.api.core.v1." + tt.typ)
			is.Equal(string(AppendProto(nil, obj, typ)), tt.want) // like the generated code
			var spaced bytes.Buffer
			is.NoErr(json.Indent(&spaced, AppendStored(nil, obj, typ), "", " "))
			is.Equal(string(Proto(nil, spaced.String(), typ)), tt.want) // also from a formatted archive
		})
	}
}

func TestProtoList(t *testing.T) {
	is := is.New(t)
	set := protoSet(t)
	gvk := schema.GVK{Version: "v1", Kind: "ConfigMapList"}
	n := int64(3)
	selector := strings.Repeat("shardRange(…) || ", 10) // longer than a length of one byte
	list, err := object.Parse([]byte(`{"metadata":{"resourceVersion":"7","continue":"c","remainingItemCount":3,"shardInfo":{"selector":"` + selector + `"}},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`))
	is.NoErr(err)
	item := set.Kind(schema.GVK{Version: "v1", Kind: "ConfigMap"})
	var items [][]byte
	for _, x := range list.List("items") {
		items = append(items, AppendProto(nil, x.(map[string]any), item))
	}
	meta := ListMeta{ResourceVersion: "7", Continue: "c", Remaining: &n, Shards: selector}
	is.Equal(ProtoList(meta, slices.Values(items)).Bytes(), AppendProto(nil, list, set.Kind(gvk))) // item by item or at once
}

func TestDecodeProtoErrors(t *testing.T) {
	set := protoSet(t)
	configMap := func(raw string) string {
		return string(AppendEnvelope(nil, schema.GVK{Version: "v1", Kind: "ConfigMap"}, []byte(raw)))
	}
	for _, tt := range []struct{ body, want string }{
		{"", "empty data"},
		{`{"metadata":{"name":"x"}}`, "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		{"k8s", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		{"k8s\x00", "empty body"},
		{"k8s\x00\x0a\x05", "unexpected EOF"},
		{configMap("\x0a\x09abc"), "unexpected EOF"},
		{configMap("\x08\x01"), "proto: wrong wireType = 0 for field ObjectMeta"},
		{configMap("\x12\x00\x25"), "proto: wrong wireType = 5 for field Immutable"},
		{configMap("\x00"), "proto: ConfigMap: illegal tag 0 (wire type 0)"},
		{configMap("\x0c"), "proto: ConfigMap: wiretype end group for non-group"},
		{configMap("\x9f\x3f"), "proto: illegal wireType 7"},
		{configMap("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "proto: integer overflow"},
		{string(AppendEnvelope(nil, schema.GVK{Version: "v1", Kind: "Frog"}, nil)), ErrNoKind.Error()},
	} {
		t.Run(tt.want, func(t *testing.T) {
			is := is.New(t)
			_, _, err := DecodeProto([]byte(tt.body), set.Kind)
			is.True(err != nil)
			is.Equal(err.Error(), tt.want) // the server's message
		})
	}
	is := is.New(t)
	_, gvk, err := DecodeProto(AppendEnvelope(nil, schema.GVK{Group: "g", Version: "v1", Kind: "Frog"}, nil), set.Kind)
	is.True(errors.Is(err, ErrNoKind))                                 // frogs are an unknown kind
	is.Equal(gvk, schema.GVK{Group: "g", Version: "v1", Kind: "Frog"}) // the caller gets the kind
}

func TestDecodeProtoDepth(t *testing.T) {
	is := is.New(t)
	raw := []byte{}
	for range 200 { // JSONSchemaProps.not is field 28
		raw = append(append([]byte{0xe2, 0x01}, lengthOf(raw)...), raw...)
	}
	typ := protoSet(t).Named("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
	is.NoErr(new(protoReader).message(messageOf(typ), raw, map[string]any{}, 0))                                // deep is fine
	is.Equal(new(protoReader).message(messageOf(typ), raw, map[string]any{}, protoDepthMax-100), errProtoDepth) // too deep is an error
}

func lengthOf(b []byte) []byte {
	var out []byte
	for n := len(b); ; n >>= 7 {
		if n < 0x80 {
			return append(out, byte(n))
		}
		out = append(out, byte(n)|0x80)
	}
}

func FuzzProto(f *testing.F) {
	set := protoSet(f)
	for i, gvk := range protoKinds(set) {
		g := &generator{rand.New(rand.NewSource(int64(i))), 0.3, 50}
		f.Add(AppendEnvelope(nil, gvk, AppendProto(nil, g.object(set.Kind(gvk), gvk), set.Kind(gvk))))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		obj, gvk, err := DecodeProto(body, set.Kind)
		if err != nil {
			return
		}
		typ := set.Kind(gvk)
		again, _, err := DecodeProto(AppendEnvelope(nil, gvk, AppendProto(nil, obj, typ)), set.Kind)
		if err != nil {
			t.Fatal(err)
		}
		valid := func(o object.Object) string { // invalid UTF-8 is encoded as an escape, and is that character from then on
			return strings.ReplaceAll(string(Append(nil, o, typ)), `\ufffd`, "\ufffd")
		}
		if a, b := valid(obj), valid(again); a != b {
			t.Errorf("%s\nis not\n%s", a, b)
		}
	})
}

// benchPod returns a pod of about 1.5 KB of JSON.
func benchPod(b *testing.B) (object.Object, *schema.Type) {
	typ := protoSet(b).Kind(schema.GVK{Version: "v1", Kind: "Pod"})
	obj, _, err := DecodeJSON([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-5d9c7b4f6-x2x9q","generateName":"web-5d9c7b4f6-","namespace":"default","uid":"3f2b8a6e-2f0e-4c69-9a51-0f3a5b2c1d4e","resourceVersion":"12345","creationTimestamp":"2030-01-01T00:00:00Z","labels":{"app":"web","pod-template-hash":"5d9c7b4f6"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-5d9c7b4f6","uid":"0a0b0c0d-2f0e-4c69-9a51-0f3a5b2c1d4e","controller":true,"blockOwnerDeletion":true}]},"spec":{"volumes":[{"name":"data","emptyDir":{}},{"name":"config","configMap":{"name":"web","defaultMode":420}}],"containers":[{"name":"web","image":"registry.example.com/web:1.2.3","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m","memory":"256Mi"}},"volumeMounts":[{"name":"data","mountPath":"/data"}],"readinessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","securityContext":{},"schedulerName":"default-scheduler"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2030-01-01T00:00:05Z"}],"hostIP":"10.0.0.1","podIP":"10.1.0.1","qosClass":"Burstable"}}`), typ)
	if err != nil {
		b.Fatal(err)
	}
	return obj, typ
}

func BenchmarkAppendProto(b *testing.B) {
	obj, typ := benchPod(b)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendProto(dst[:0], obj, typ)
	}
	b.SetBytes(int64(len(dst)))
}

func BenchmarkDecodeProto(b *testing.B) {
	obj, typ := benchPod(b)
	body := AppendEnvelope(nil, schema.GVK{Version: "v1", Kind: "Pod"}, AppendProto(nil, obj, typ))
	kinds := func(schema.GVK) *schema.Type { return typ }
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, _, err := DecodeProto(body, kinds); err != nil {
			b.Fatal(err)
		}
	}
}
