package encryption

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// generation is a configuration that applies to writes from a revision on.
type generation struct {
	from       uint64
	byResource map[string]*prefixed // by the names in the file
	v1         map[string][]*kmsV1  // the first provider of a resource, by the same names
	v2         map[string][]*kmsV2
	probes     []prober // in the order of the file
	onlyV2     bool     // there are key management services, and all of them are v2
}

// prober is a key management service with a health check.
type prober interface{ probe(now time.Time) error }

// build returns the generation of a configuration.
func (v *Values) build(c *Configuration) (*generation, error) {
	g := &generation{byResource: map[string]*prefixed{}, v1: map[string][]*kmsV1{}, v2: map[string][]*kmsV2{}, onlyV2: true}
	for _, r := range c.Resources {
		list, err := v.providers(g, r.Providers)
		if err != nil {
			return nil, err
		}
		for _, name := range r.Resources {
			_, group := groupOf(name)
			for _, wider := range []string{"*." + group, "*.*"} {
				if g.byResource[wider] != nil {
					return nil, fmt.Errorf("resource %q is masked by earlier rule %q", name, wider)
				}
			}
			p := g.byResource[name]
			if p == nil {
				p = &prefixed{none: "no matching prefix found"}
				g.byResource[name] = p
			}
			p.list = append(p.list, list...)
			switch first := p.list[0].transformer.(type) {
			case *kmsV1:
				g.v1[name] = []*kmsV1{first}
			case *kmsV2:
				g.v2[name] = []*kmsV2{first}
			}
		}
	}
	g.onlyV2 = g.onlyV2 && len(g.probes) > 0
	return g, nil
}

// providers returns the transformers of a list of providers.
func (v *Values) providers(g *generation, list []ProviderConfiguration) (all []prefix, err error) {
	for _, p := range list {
		x := prefix{transformer: identity{}}
		switch {
		case p.AESGCM != nil:
			x.text = "k8s:enc:aesgcm:v1:"
			x.transformer, err = withKeys(p.AESGCM, "AES", newGCM)
		case p.AESCBC != nil:
			x.text = "k8s:enc:aescbc:v1:"
			x.transformer, err = withKeys(p.AESCBC, "AES", newCBC)
		case p.Secretbox != nil:
			x.text = "k8s:enc:secretbox:v1:"
			x.transformer, err = withKeys(p.Secretbox, "Secretbox", newBox)
		case p.KMS != nil:
			x, err = v.kms(g, p.KMS)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// kms returns the transformer of a key management service.
func (v *Values) kms(g *generation, c *KMSConfiguration) (prefix, error) {
	if c.APIVersion == "v2" {
		k, err := newKMSv2(c, v)
		if err != nil {
			return prefix{}, err
		}
		g.probes = append(g.probes, k)
		return prefix{"k8s:enc:kms:v2:" + c.Name + ":", k}, nil
	}
	if !v.gateV1 {
		return prefix{}, errors.New("KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.") //nolint:staticcheck // kube-apiserver's text
	}
	k, err := newKMSv1(c)
	if err != nil {
		return prefix{}, err
	}
	g.onlyV2 = false
	g.probes = append(g.probes, k)
	return prefix{"k8s:enc:kms:v1:" + c.Name + ":", k}, nil
}

// name returns the name in the file that applies to a resource, such as deployments.apps or secrets, or "" if there is none
// (StaticTransformers.TransformerForResource).
func (g *generation) name(resource string) string {
	_, group := groupOf(resource)
	if unserved := []string{"apiserveripinfo", "serviceipallocations", "servicenodeportallocations"}; slices.Contains(unserved, resource) {
		return ""
	}
	for _, name := range []string{resource, "*." + group, "*.*"} {
		if g.byResource[name] != nil {
			return name
		}
	}
	return ""
}

// of returns the transformer of a resource, which stores values as they are if the file has none.
func (g *generation) of(resource string) *prefixed {
	if name := g.name(resource); name != "" {
		return g.byResource[name]
	}
	return plain
}

var plain = &prefixed{list: []prefix{{"", identity{}}}, none: "identity transformer tried to read encrypted data"}
