// Package configfile decodes the configuration files of kube-apiserver, and detects their changes.
//
//	--authentication-config=FILE ─▶ Watched.Changed ─▶ Decode ─▶ AuthenticationConfiguration
//
// Decoding is strict, like that of kube-apiserver: an unknown or repeated field is an error.
package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/schema"
)

// Kind is a kind of configuration file.
type Kind struct {
	Group, Kind string
	Versions    []string
}

// Decode decodes a file in YAML or JSON into a struct, and returns its version. The errors are those of kube-apiserver's decoder
// (k8s.io/apimachinery/pkg/runtime/serializer with the option EnableStrict).
func (k Kind) Decode(data []byte, into any) (version string, err error) {
	if len(data) == 0 {
		return "", errors.New("empty config data")
	}
	text, err := codec.YAMLToJSONStrict(data)
	if err != nil {
		return "", fmt.Errorf("couldn't get version/kind; %w", err)
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return "", fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	gvk := schema.ParseGVK(head.APIVersion, head.Kind)
	switch {
	case head.Kind == "":
		return "", fmt.Errorf("Object 'Kind' is missing in '%s'", text) //nolint:staticcheck // kube-apiserver's text
	case gvk.Group != k.Group || gvk.Kind != k.Kind || !slices.Contains(k.Versions, gvk.Version):
		return "", fmt.Errorf("no kind %q is registered for version %q in scheme %q", head.Kind, head.APIVersion, "pkg/runtime/scheme.go:111")
	}
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(text, &rest); err != nil {
		return "", err
	}
	delete(rest, "apiVersion")
	delete(rest, "kind")
	if text, err = json.Marshal(rest); err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return "", fmt.Errorf("strict decoding error: unknown field %s", field)
		}
		return "", err
	}
	return gvk.Version, nil
}

// Duration is a duration in a configuration file, such as "5m".
type Duration time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	parsed, err := time.ParseDuration(s)
	*d = Duration(parsed)
	return err
}

// Watched is a file that is read again when it changes. It is not safe for concurrent use.
type Watched struct {
	Name string
	size int64
	time time.Time
}

// Changed reports whether the file has changed since the last call. A file that cannot be read counts as unchanged.
func (f *Watched) Changed() bool {
	info, err := os.Stat(f.Name)
	if err != nil || info.Size() == f.size && info.ModTime().Equal(f.time) {
		return false
	}
	f.size, f.time = info.Size(), info.ModTime()
	return true
}
