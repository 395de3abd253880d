package discovery

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// zpage is a page for debugging a server: /statusz (KEP-4827) or /flagz (KEP-4828). A program that requests the kind by name
// receives an object of config.k8s.io instead of text. In the text, the real server puts a random separator between a name and its
// value, which keeps programs from parsing the text; here the separator is fixed.
type zpage struct {
	kind string
	text func(d *Documents) string
	data func(d *Documents) map[string]any
}

var zpages = map[string]zpage{
	"/statusz": {"Statusz", (*Documents).statusText, (*Documents).statusData},
	"/flagz":   {"Flagz", (*Documents).flagText, (*Documents).flagData},
}

// served reports whether the feature gate for a page is enabled.
func (d *Documents) served(path string) bool {
	return path == "/statusz" && d.o.Statusz || path == "/flagz" && d.o.Flagz
}

// zpage serves /statusz and /flagz, with any method.
func (d *Documents) zpage(r *Request, p zpage) *Answer {
	o := r.asked(codec.Options{CBOR: d.o.CBOR, Schema: d.o.Schema})
	f, asText, s := codec.NegotiatePage(r.Header.Get("Accept"), p.kind, o)
	switch {
	case s != nil: // errors are not sent in protobuf, which these pages do not support
		if f = codec.NegotiateError(r.Header.Get("Accept"), o); f.Media == codec.Protobuf {
			f = codec.Format{Pretty: true, ContentType: codec.JSON.String()}
		}
		return &Answer{Code: s.Code, Header: wire.Header{"Content-Type": {f.ContentType}}, Body: codec.Body(s.JSON(), f)}
	case asText:
		const warning = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility " +
			"guarantees and is for debugging purposes only.\n"
		return plain(wire.StatusOK, "\napiserver "+strings.ToLower(p.kind)+"\n"+warning+p.text(d))
	}
	obj := object.Object{"kind": p.kind, "apiVersion": "config.k8s.io/" + f.AsVersion, "metadata": map[string]any{"name": "apiserver"}}
	maps.Copy(obj, p.data(d))
	a := &Answer{Code: wire.StatusOK, Header: wire.Header{"Content-Type": {f.ContentType}}, Negotiated: true}
	a.Body = codec.Body(codec.Append(nil, obj, zpageTypes[p.kind]), f)
	if f.AsVersion == "v1alpha1" {
		a.Header.Set("Warning", `299 - "This version of the `+strings.ToLower(p.kind)+` endpoint is deprecated. Please use a newer version."`)
	}
	return a
}

// zpageTypes are the types of the pages' kinds. Fields are printed in the order in which they are declared here.
var zpageTypes = func() map[string]*schema.Type {
	word, list := &schema.Type{Kind: schema.String}, &schema.Type{Kind: schema.List}
	list.Elem = word
	metadata := schema.NewStruct("", "v1.ObjectMeta", []schema.Field{{Name: "name", Type: word}})
	kind := func(fields ...schema.Field) *schema.Type {
		return schema.NewStruct("", "", append([]schema.Field{{Name: "kind", Type: word}, {Name: "apiVersion", Type: word}, {Name: "metadata", Type: metadata}}, fields...))
	}
	return map[string]*schema.Type{
		"Flagz": kind(schema.Field{Name: "flags", Type: &schema.Type{Kind: schema.Map, Elem: word}}),
		"Statusz": kind(schema.Field{Name: "startTime", Type: word}, schema.Field{Name: "uptimeSeconds", Type: &schema.Type{Kind: schema.Int, Bits: 64}},
			schema.Field{Name: "goVersion", Type: word}, schema.Field{Name: "binaryVersion", Type: word},
			schema.Field{Name: "emulationVersion", Type: word}, schema.Field{Name: "paths", Type: list}),
	}
}()

func (d *Documents) statusText() string {
	up := int64(d.o.Host.Now().Sub(d.started).Seconds())
	v := &d.o.Version
	return fmt.Sprintf("\nStarted: %s\nUp: %d hr %02d min %02d sec\nGo version: %s\nBinary version: %s\nEmulation version: %s\nPaths: %s\n",
		d.started.UTC().Format(time.UnixDate), up/3600, up/60%60, up%60, goVersion, strings.TrimPrefix(v.GitVersion, "v"),
		v.EmulationMajor+"."+v.EmulationMinor, strings.Join(d.debugging(), " "))
}

func (d *Documents) statusData() map[string]any {
	v := &d.o.Version
	return map[string]any{
		"startTime":        object.Time(d.started),
		"uptimeSeconds":    int64(d.o.Host.Now().Sub(d.started).Seconds()),
		"goVersion":        goVersion,
		"binaryVersion":    strings.TrimPrefix(v.GitVersion, "v"),
		"emulationVersion": v.EmulationMajor + "." + v.EmulationMinor,
		"paths":            object.FromStrings(d.debugging()),
	}
}

// debugging returns the first segments of all paths outside the API.
func (d *Documents) debugging() []string {
	api := []string{"", "api", "apis", "openid", "openapi", ".well-known"}
	var out []string
	for _, path := range d.list() {
		if first, _, _ := strings.Cut(path[1:], "/"); !slices.Contains(api, first) {
			out = append(out, "/"+first)
		}
	}
	return sorted(out)
}

// flagDefaults are the default values of the flags of kube-apiserver v1.36, as its /flagz reports them. They do not include the
// paths and ports of the host on which it was running.
//
//go:embed flags.txt
var flagDefaults string

// flags returns the value of each flag, by name.
func (d *Documents) flags() map[string]any {
	out := map[string]any{}
	for line := range strings.Lines(flagDefaults) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		out[name] = value
	}
	for name, value := range d.o.Flags { // order does not matter
		out[name] = value
	}
	return out
}

func (d *Documents) flagText() string {
	var b strings.Builder
	flags := d.flags()
	for _, name := range object.SortedKeys(flags) {
		fmt.Fprintf(&b, "%s=%s\n", name, flags[name])
	}
	return b.String()
}

func (d *Documents) flagData() map[string]any { return map[string]any{"flags": d.flags()} }
