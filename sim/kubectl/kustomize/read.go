package kustomize

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// known are the fields of a kustomization that are accepted.
var known = []string{"apiVersion", "kind", "metadata", "resources", "bases", "components", "crds", "configurations", "namespace",
	"namePrefix", "nameSuffix", "commonLabels", "labels", "commonAnnotations", "images", "imageTags", "replicas", "patches",
	"patchesStrategicMerge", "patchesJson6902", "configMapGenerator", "secretGenerator", "generatorOptions", "sortOptions", "buildMetadata",
	"replacements", "vars"}

// unsimulated are the fields that the real kustomize accepts, too.
var unsimulated = []string{"generators", "transformers", "validators", "helmGlobals", "helmCharts", "helmChartInflationGenerator", "openapi",
	"inventory"}

// deprecated lists the fields with warnings, in the order of the warnings (CheckDeprecatedFields).
var deprecated = []struct{ field, better, hint string }{
	{"bases", "resources", ""}, {"commonLabels", "labels", ""}, {"imageTags", "images", ""}, {"patchesJson6902", "patches", ""},
	{"patchesStrategicMerge", "patches", ""}, {"vars", "replacements", "[EXPERIMENTAL] "},
}

// errUnsimulated returns the error for a part of kustomize that this package does not have.
func errUnsimulated(what string) error {
	return fmt.Errorf("%s is not simulated: run kubectl kustomize, and load what it prints", what)
}

// texts and lists name the fields that are strings, and lists of strings.
var (
	texts = []string{"namespace", "namePrefix", "nameSuffix"}
	lists = []string{"resources", "bases", "components", "crds", "configurations", "buildMetadata"}
)

// check returns an error if a field has another type than Kustomization has (encoding/json.UnmarshalTypeError).
func check(k object.Object) error {
	wrong := func(v any, field, kind string) error {
		name := "number"
		switch v.(type) {
		case string:
			name = "string"
		case bool:
			name = "bool"
		case []any:
			name = "array"
		case map[string]any:
			name = "object"
		}
		return fmt.Errorf("invalid Kustomization: json: cannot unmarshal %s into Go struct field Kustomization.%s of type %s", name, field, kind)
	}
	for _, field := range object.SortedKeys(k) {
		v := k[field]
		if _, ok := v.(string); !ok && v != nil && slices.Contains(texts, field) {
			return wrong(v, field, "string")
		}
		if v == nil || !slices.Contains(lists, field) {
			continue
		}
		items, ok := v.([]any)
		if !ok {
			return wrong(v, field, "[]string")
		}
		for _, x := range items {
			if _, ok := x.(string); !ok {
				return wrong(x, field, "string")
			}
		}
	}
	return nil
}

// read returns the kustomization in a file. It prints warnings about deprecated fields.
func (b *build) read(file string) (object.Object, error) {
	data, err := b.files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(data)) == "" {
		return nil, fmt.Errorf("%s is empty", path.Base(file))
	}
	text, err := codec.YAMLToJSON(data)
	if err != nil {
		return nil, fmt.Errorf("invalid Kustomization: %w", plainYAML(err))
	}
	k, err := object.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("invalid Kustomization: %w", err)
	}
	for _, field := range object.SortedKeys(k) {
		switch {
		case slices.Contains(unsimulated, field):
			return nil, errUnsimulated("the field " + field)
		case !slices.Contains(known, field):
			return nil, fmt.Errorf("invalid Kustomization: json: unknown field %q", field)
		}
	}
	if err := check(k); err != nil {
		return nil, err
	}
	for _, name := range k.Strings("buildMetadata") {
		if name != "managedByLabel" {
			return nil, errUnsimulated("buildMetadata: " + name)
		}
	}
	for _, d := range deprecated {
		if k.Has(d.field) {
			fmt.Fprintf(b.warnings, "# Warning: '%s' is deprecated. Please use '%s' instead. %sRun 'kustomize edit fix' to update your Kustomization automatically.\n",
				d.field, d.better, d.hint)
		}
	}
	return k, enforce(k, path.Dir(file))
}

// enforce checks the kind and apiVersion of a kustomization (Kustomization.EnforceFields).
func enforce(k object.Object, dir string) error {
	var errs []string
	if kind := k.Kind(); kind != "" && kind != "Kustomization" && kind != "Component" {
		errs = append(errs, "kind should be Kustomization or Component")
	}
	want := "kustomize.config.k8s.io/v1beta1"
	if k.Kind() == "Component" {
		want = "kustomize.config.k8s.io/v1alpha1"
	}
	if v := k.APIVersion(); v != "" && v != want {
		errs = append(errs, fmt.Sprintf("apiVersion for %s should be %s", k.Kind(), want))
	}
	if errs == nil {
		return nil
	}
	return fmt.Errorf("Failed to read kustomization file under %s:\n%s", absolute(dir), strings.Join(errs, "\n"))
}

// plainYAML returns an error about YAML without the prefix that codec adds.
func plainYAML(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
}
