package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/sim/schema"
)

// published is the content of openapi/MINOR.json.gz.
type published struct {
	Kubernetes string
	Schemas    map[string]definition
	Discovery  struct {
		APIs []apidiscoveryv2.APIGroupDiscovery
		Core metav1.APIResourceList
	}
}

// definition is a component schema in the published OpenAPI, or a property or element of one.
type definition struct {
	Type, Format string
	Ref          string `json:"$ref"`
	AllOf        []definition
	Items        *definition
	Additional   *definition `json:"additionalProperties"`
	Properties   map[string]definition
	Required     []string
	Default      json.RawMessage

	ListType string          `json:"x-kubernetes-list-type"`
	MapKeys  []string        `json:"x-kubernetes-list-map-keys"`
	MapType  string          `json:"x-kubernetes-map-type"`
	GVKs     []schema.GVK    `json:"x-kubernetes-group-version-kind"`
	Unions   json.RawMessage `json:"x-kubernetes-unions"`
}

func readPublished(dir, minor string) (*published, error) {
	pub := new(published)
	if err := readJSON(filepath.Join(dir, minor+".json.gz"), pub); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(pub.Kubernetes, "v"+minor+".") {
		return nil, fmt.Errorf("%s/%s.json.gz is of Kubernetes %s", dir, minor, pub.Kubernetes)
	}
	return pub, nil
}

func readJSON(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// builtFor returns the minor version of the Go types. The k8s.io modules of Kubernetes 1.N have the versions v0.N.x. All modules
// must have the same N.
func builtFor() (minor string, err error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("built without module information")
	}
	for _, m := range info.Deps {
		switch m.Path {
		case "k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator":
			number, _, _ := strings.Cut(strings.TrimPrefix(m.Version, "v0."), ".")
			if minor != "" && minor != "1."+number {
				return "", fmt.Errorf("%s %s is not of Kubernetes %s", m.Path, m.Version, minor)
			}
			minor = "1." + number
		}
	}
	if minor == "" {
		return "", errors.New("built without k8s.io modules")
	}
	return minor, nil
}
