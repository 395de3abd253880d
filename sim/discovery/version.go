package discovery

import (
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Version is the content of /version, except for the build information.
type Version struct {
	Major, Minor                                 string
	EmulationMajor, EmulationMinor               string
	MinCompatibilityMajor, MinCompatibilityMinor string
	GitVersion                                   string
}

// Release returns the Version of a release such as "v1.36.3". Its emulation version is the release's own minor version, and its
// minimum compatibility version is the preceding one.
func Release(gitVersion string) Version {
	parts := strings.SplitN(strings.TrimPrefix(gitVersion, "v"), ".", 3)
	if len(parts) < 2 {
		return Version{GitVersion: gitVersion}
	}
	v := Version{
		Major: parts[0], Minor: parts[1], EmulationMajor: parts[0], EmulationMinor: parts[1],
		MinCompatibilityMajor: parts[0], MinCompatibilityMinor: parts[1], GitVersion: gitVersion,
	}
	if minor, err := strconv.Atoi(parts[1]); err == nil {
		v.MinCompatibilityMinor = strconv.Itoa(minor - 1)
	}
	return v
}

// The build information in /version. It is fictitious, but clients expect these fields.
const (
	gitCommit = "0000000000000000000000000000000000000000"
	buildDate = "1970-01-01T00:00:00Z"
	goVersion = "go1.26"
	compiler  = "gc"
	platform  = "linux/amd64"
)

// document returns the JSON of a version.Info.
func (v *Version) document() []byte {
	var b []byte
	for _, f := range [...]struct {
		key, value string
		optional   bool
	}{
		{"major", v.Major, false},
		{"minor", v.Minor, false},
		{"emulationMajor", v.EmulationMajor, true},
		{"emulationMinor", v.EmulationMinor, true},
		{"minCompatibilityMajor", v.MinCompatibilityMajor, true},
		{"minCompatibilityMinor", v.MinCompatibilityMinor, true},
		{"gitVersion", v.GitVersion, false},
		{"gitCommit", gitCommit, false},
		{"gitTreeState", "", false},
		{"buildDate", buildDate, false},
		{"goVersion", goVersion, false},
		{"compiler", compiler, false},
		{"platform", platform, false},
	} {
		if f.optional && f.value == "" {
			continue
		}
		b = append(object.AppendString(append(b, ','), f.key), ':')
		b = object.AppendString(b, f.value)
	}
	b[0] = '{'
	return append(b, '}')
}

// routed serves those documents outside the API that the real server's router serves: only for GET, and only in JSON.
func (d *Documents) routed(r *Request, path string) *Answer {
	if r.Method != wire.MethodGet {
		return failed(status.NoMethod())
	}
	only := codec.Options{JSONOnly: path == "/version", Only: "application/json"}
	if path == keysPath {
		only.Only = "application/jwk-set+json"
	}
	if _, s := negotiate(r, only); s != nil {
		return failed(s)
	}
	if path == "/version" {
		return indented(d.o.Version.document())
	}
	a := &Answer{Code: wire.StatusOK, Header: wire.Header{
		"Content-Type":  {"application/json"},
		"Cache-Control": {"public, max-age=3600"},
	}}
	if path == keysPath {
		a.Header.Set("Content-Type", "application/jwk-set+json")
		a.Body = d.o.Keys.KeySet()
		return a
	}
	a.Body = d.openID()
	return a
}

// indented returns a response with indented JSON, whatever formats the client accepts.
func indented(compact []byte) *Answer {
	body := codec.Body(compact, codec.Format{Pretty: true})
	return &Answer{Code: wire.StatusOK, Header: wire.Header{"Content-Type": {"application/json"}}, Body: body}
}

// list returns all paths that do not belong to resources, sorted.
func (d *Documents) list() []string {
	d.load()
	list := []string{"/api", "/apis", "/apis/", "/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/openapi/v3/"}
	for _, path := range routedPaths {
		if d.routes(path) {
			list = append(list, path)
		}
	}
	for _, path := range []string{"/flagz", "/statusz"} {
		if d.served(path) {
			list = append(list, path)
		}
	}
	if d.core != nil {
		for _, v := range d.core.versions {
			list = append(list, "/api/"+v.name)
		}
	}
	for i := range d.groups {
		g := &d.groups[i]
		list = append(list, "/apis/"+g.name)
		for _, v := range g.versions {
			list = append(list, schema.GVK{Group: g.name, Version: v.name}.Root())
		}
	}
	for _, e := range endpoints {
		list = append(list, "/"+e.name)
		for _, check := range e.checks {
			list = append(list, "/"+e.name+"/"+check)
		}
	}
	return sorted(list)
}
