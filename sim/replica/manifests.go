package replica

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/builtin/admissionregistration"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Manifest is a document of a file with webhook configurations or admission policies (KEP-5793).
type Manifest struct {
	File string // name of the file
	JSON []byte
}

// SetAuthorizers replaces the authorizers of all API servers. They must be valid.
func (s *Set) SetAuthorizers(chain []auth.Link) {
	for i := range s.Len() {
		s.At(i + 1).api.Auth.SetAuthorizers(chain)
	}
}

// SetManifests replaces the objects of a plugin's files. It returns kube-apiserver's error, and changes nothing, if one is invalid
// (k8s.io/apiserver/pkg/admission/plugin/webhook/manifest/loader and policy/manifest/loader).
func (s *Set) SetManifests(plugin string, documents []Manifest) error {
	all := make([]*manifests, s.Len())
	for i := range all {
		m := &manifests{r: s.At(i + 1), kinds: admissionregistration.ManifestKinds(plugin), byKind: map[string][]object.Object{}, files: map[string]string{}}
		if !m.r.profile.server.Gates["ManifestBasedAdmissionControlConfig"] {
			return errors.New("staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled")
		}
		if err := m.read(documents); err != nil {
			return err
		}
		all[i] = m
	}
	for _, m := range all {
		for _, kind := range m.kinds {
			objects := m.byKind[kind]
			slices.SortFunc(objects, func(a, b object.Object) int { return cmp.Compare(a.Name(), b.Name()) })
			m.r.plugins.SetManifests(m.definition(kind).Storage, objects)
		}
	}
	return nil
}

// manifests are the objects in the files of a plugin, as one API server reads them.
type manifests struct {
	r      *Server
	kinds  []string
	byKind map[string][]object.Object
	files  map[string]string // the file of each kind and name
}

// definition returns the definition of a kind of admissionregistration.k8s.io/v1.
func (m *manifests) definition(kind string) *resource.Definition {
	return m.r.api.Table.OfKind(schema.GVK{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind})
}

// read reads all documents.
func (m *manifests) read(documents []Manifest) error {
	for _, doc := range documents {
		if err := m.add(doc); err != nil {
			return fmt.Errorf("error loading %s: %w", doc.File, err)
		}
	}
	policy, binding := m.kinds[0], m.kinds[len(m.kinds)-1]
	for _, b := range m.byKind[binding] {
		name := b.String("spec", "policyName")
		if binding != policy && !slices.ContainsFunc(m.byKind[policy], func(p object.Object) bool { return p.Name() == name }) {
			return fmt.Errorf("binding %q references policy %q which does not exist in the manifest directory", b.Name(), name)
		}
	}
	return nil
}

// add reads a document, which may be a list.
func (m *manifests) add(doc Manifest) error {
	obj, err := object.Parse(doc.JSON)
	if err != nil {
		return fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	kind := obj.Kind()
	one, isList := strings.CutSuffix(kind, "List")
	if kind == "" {
		return fmt.Errorf("Object 'Kind' is missing in '%s'", doc.JSON) //nolint:staticcheck // kube-apiserver's text
	}
	if isList && (obj.APIVersion() == "v1" && one == "" || slices.Contains(m.kinds, one)) {
		for _, item := range obj.Objects("items") {
			if one != "" {
				item.SetDefault(one, "kind")
				item.SetDefault(obj.APIVersion(), "apiVersion")
			}
			if err := m.add(Manifest{doc.File, object.JSON(map[string]any(item))}); err != nil {
				return err
			}
		}
		return nil
	}
	if !slices.Contains(m.kinds, kind) {
		return fmt.Errorf("unsupported resource type %s, Kind=%s", obj.APIVersion(), kind)
	}
	d := m.definition(kind)
	if obj.APIVersion() != d.GV() || m.r.api.Table.OfKind(d.GVK) == nil {
		return fmt.Errorf("no kind %q is registered for version %q in scheme %q", kind, obj.APIVersion(), "pkg/runtime/scheme.go:111")
	}
	obj, strict, err := m.r.api.Decoder.Decode(doc.JSON, d.GVK, d.Layout())
	switch {
	case err != nil:
		return err
	case len(strict) > 0:
		return errors.New("strict decoding error: " + strings.Join(strict, ", "))
	}
	return m.accept(d, obj, doc.File)
}

// accept sets the defaults of an object and validates it.
func (m *manifests) accept(d *resource.Definition, obj object.Object, file string) error {
	name := obj.Name()
	made, err := m.validated(d, obj)
	if err != nil {
		return fmt.Errorf("%s %q: %w", d.Kind, name, err)
	}
	key := d.Kind + "/" + name
	switch before, again := m.files[key]; {
	case name == "":
		return fmt.Errorf("resource in file %q must have a name", file)
	case !strings.HasSuffix(name, admissionregistration.StaticSuffix):
		return fmt.Errorf("%q in file %q must have a name ending with %q", name, file, admissionregistration.StaticSuffix)
	case again:
		return fmt.Errorf("duplicate name %q found in file %q (previously seen in %q)", name, file, before)
	}
	if err := checkManifest(made, d.Kind != m.kinds[0], file); err != nil {
		return err
	}
	m.files[key] = file
	m.byKind[d.Kind] = append(m.byKind[d.Kind], made)
	return nil
}

// validated returns the object as it would be stored, if its name was not reserved for files.
func (m *manifests) validated(d *resource.Definition, obj object.Object) (object.Object, error) {
	name := obj.Name()
	if name == "" || len(field.DNS1123Subdomain(name)) > 0 {
		return obj, nil // accept returns the error
	}
	obj.Set("manifest."+field.MaskTrailingDash(strings.TrimSuffix(name, admissionregistration.StaticSuffix), false), "metadata", "name")
	if d.Default != nil {
		d.Default(obj)
	}
	q := registry.Loopback(nil, d, "", obj.Name())
	q.Verb, q.DryRun = "create", true
	result, s := m.r.own.Create(q, obj)
	if s != nil {
		if s.Details != nil && len(s.Details.Causes) > 0 {
			var texts []string
			for _, c := range s.Details.Causes {
				texts = append(texts, c.Field+": "+c.Message)
			}
			return nil, errors.New(field.Aggregate(texts))
		}
		return nil, s
	}
	made := result.Item.Object().Copy()
	made["metadata"] = map[string]any{"name": name}
	return made, nil
}

// checkManifest returns an error for fields that an object in a file cannot have. binding reports whether it binds a policy.
func checkManifest(obj object.Object, binding bool, file string) error {
	name := obj.Name()
	for _, hook := range obj.Objects("webhooks") {
		at := fmt.Sprintf("webhook %q in %q (file %q): ", hook.String("name"), name, file)
		switch client := hook.At("clientConfig"); {
		case client.Has("service"):
			return errors.New(at + "clientConfig.service is not supported for static manifests; use clientConfig.url instead")
		case client.String("url") == "":
			return errors.New(at + "clientConfig.url is required for static manifests")
		}
	}
	spec := obj.At("spec")
	switch {
	case spec == nil:
		return nil
	case spec.Has("paramKind"):
		return fmt.Errorf("%s %q: spec.paramKind is not supported for static manifests", obj.Kind(), name)
	case !binding:
		return nil
	case spec.String("policyName") == "":
		return fmt.Errorf("binding %q must reference a policy (spec.policyName)", name)
	case !strings.HasSuffix(spec.String("policyName"), admissionregistration.StaticSuffix):
		return fmt.Errorf("binding %q: spec.policyName %q must end with %q", name, spec.String("policyName"), admissionregistration.StaticSuffix)
	case spec.Has("paramRef"):
		return fmt.Errorf("binding %q: spec.paramRef is not supported for static manifests", name)
	}
	return nil
}
