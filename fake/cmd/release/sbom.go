package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// bom is a software bill of materials, in the subset of CycloneDX 1.6 that is used here.
//
//	metadata.component   the program, with its checksum
//	components           the linked modules, according to the program's build information, and Go's standard library
type bom struct {
	Schema     string      `json:"$schema"`
	Format     string      `json:"bomFormat"`
	Version    string      `json:"specVersion"`
	Revision   int         `json:"version"`
	Metadata   bomMetadata `json:"metadata"`
	Components []component `json:"components"`
}

type bomMetadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type     string      `json:"type"`
	Ref      string      `json:"bom-ref"`
	Name     string      `json:"name"`
	Version  string      `json:"version"`
	URL      string      `json:"purl"` // package URL
	Hashes   []bomHash   `json:"hashes,omitempty"`
	Licenses []bomChoice `json:"licenses,omitempty"`
}

type bomHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type bomChoice struct {
	License bomLicense `json:"license"`
}

type bomLicense struct {
	ID string `json:"id"`
}

// module returns the component of a module.
func module(path, version string) component {
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: "library", Ref: url, Name: path, Version: version, URL: url}
}

// newBOM returns the bill of materials of a program.
func (r *release) newBOM(p platform, info *debug.BuildInfo, program []byte) bom {
	self := module(rootModule, r.version)
	self.Type, self.Name = "application", "kubesim"
	self.URL += "?goos=" + p.os + "&goarch=" + p.arch + "#fake/cmd/kubesim"
	self.Ref = self.URL
	sum := sha256.Sum256(program)
	self.Hashes = []bomHash{{"SHA-256", hex.EncodeToString(sum[:])}}
	self.Licenses = []bomChoice{{bomLicense{"Apache-2.0"}}}
	b := bom{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Version: "1.6", Revision: 1,
		Metadata: bomMetadata{Timestamp: r.time.Format(time.RFC3339), Component: self}}
	for _, m := range info.Deps { // sorted by path
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, module(m.Path, m.Version))
	}
	b.Components = append(b.Components, module("std", info.GoVersion))
	return b
}

// writeSBOM writes the bill of materials of a program.
func (r *release) writeSBOM(p platform, info *debug.BuildInfo, program []byte) error {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(r.newBOM(p, info, program)); err != nil {
		return err
	}
	return os.WriteFile(r.file(p.suffix()+".cdx.json"), text.Bytes(), 0o644)
}
