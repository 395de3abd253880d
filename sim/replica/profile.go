package replica

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// options is a config.Server, with methods that derive a Profile from it.
type options config.Server

// Profile contains the definitions and settings of an API server that derive from its config.Server. Replicas with equal
// configurations share one Profile. They can read each other's stored objects without conversion.
//
//	Options ─▶ schema.Set of the minor ─▶ builtin definitions with its gates ─▶ all, hubs
//	                                                                                    └─ Serve ─▶ served
type Profile struct {
	name    string
	release string
	set     *schema.Set
	hubs    map[string]*resource.Definition // of all known resources, by storage name
	served  []*resource.Definition
	proxies bool // PeerProxy
	refuses bool // NoPrivileged

	server resource.Server
	flags  map[string]string // that do not have their default values
}

// serves reports whether the server has built-in resources of a group. It does not serve any custom resources in such a group,
// because requests for them are routed to the built-in resources.
func (p *Profile) serves(group string) bool {
	return slices.ContainsFunc(p.served, func(d *resource.Definition) bool { return d.Group == group })
}

// KnowsGate reports whether a feature gate affects the simulator, so that config.Server.FeatureGates may contain it.
func KnowsGate(name string) bool {
	_, err := kind.Server(schema.Default, map[string]bool{name: true})
	return err == nil
}

// Profiles returns the profile of each server. If there are no servers, it returns the profile of one default server. shared reports
// whether other processes have the store, which may have servers with other options. Profiles returns an error if an option of a server
// is invalid.
func Profiles(replicas []config.Server, shared bool) ([]*Profile, error) {
	if len(replicas) == 0 {
		replicas = make([]config.Server, 1)
	}
	names, out := make([]string, len(replicas)), make([]*Profile, len(replicas))
	skewed := shared
	for i, o := range replicas {
		var err error
		if names[i], err = options(o).name(); err != nil {
			return nil, err
		}
		skewed = skewed || names[i] != names[0]
	}
	for i, o := range replicas {
		var err error
		if same := slices.Index(names, names[i]); same < i {
			out[i] = out[same]
		} else if out[i], err = options(o).profile(names[i], skewed); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// minor returns the minor version that the options specify.
func (o options) minor() (string, error) {
	r, ok := schema.ReleaseOf(cmp.Or(o.Version, schema.Default))
	if !ok {
		return "", fmt.Errorf("there is no version %q; there are %s", o.Version, strings.Join(schema.Known(), ", "))
	}
	return r.Minor, nil
}

// name returns a string that is the same for servers with equal options.
func (o options) name() (string, error) {
	m, err := o.minor()
	if err != nil {
		return "", err
	}
	if len(o.FeatureGates)+len(o.Serve)+len(o.StorageVersions)+len(o.Flags) == 0 && !o.PeerProxy && !o.NoPrivileged {
		return m + " " + o.release(m), nil
	}
	server, err := kind.Server(m, o.FeatureGates)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(m, " ", o.release(m), " ", server.Gates, " ", o.Serve, " ", o.StorageVersions, " ", o.PeerProxy, " ", o.NoPrivileged, " ", o.Flags), nil // maps are printed sorted by key
}

// flags returns the kube-apiserver flags to which the options correspond.
func (o options) flags() map[string]string {
	set := func(of map[string]bool) string {
		var parts []string
		for _, name := range object.SortedKeys(of) {
			parts = append(parts, name+"="+strconv.FormatBool(of[name]))
		}
		return strings.Join(parts, ",")
	}
	all := map[string]string{"feature-gates": set(o.FeatureGates), "runtime-config": set(o.Serve)}
	maps.Copy(all, o.Flags)
	return all
}

// release returns the full version, such as v1.36.3.
func (o options) release(minor string) string {
	if v := strings.TrimPrefix(o.Version, "v"); strings.Count(v, ".") > 1 {
		return "v" + v
	}
	r, _ := schema.ReleaseOf(minor)
	return r.Version
}

func (o options) profile(name string, skewed bool) (*Profile, error) {
	m, err := o.minor()
	if err != nil {
		return nil, err
	}
	set, err := schema.Load(m)
	if err == nil && o.servesMore(set) {
		set, err = schema.LoadAll(m)
	}
	if err != nil {
		return nil, err
	}
	server, err := kind.Server(m, o.FeatureGates)
	if err != nil {
		return nil, err
	}
	defs := builtin.Definitions(set)
	if len(o.FeatureGates) > 0 {
		defs = builtin.DefinitionsFor(set, server)
	}
	defs = withDefinitions(set, defs)
	p := &Profile{name: name, release: o.release(m), proxies: o.PeerProxy, refuses: o.NoPrivileged, set: set, server: server,
		flags: o.flags(), hubs: map[string]*resource.Definition{}}
	if skewed || len(o.StorageVersions) > 0 {
		if defs, err = o.readingSkew(set, defs); err != nil {
			return nil, err
		}
	}
	for _, d := range defs {
		if d.Hub == d {
			p.hubs[d.Storage] = d
		}
	}
	p.served, err = o.serve(defs)
	return p, err
}

// servesMore reports whether Serve contains APIs that set, with the API of a default server, does not have.
func (o options) servesMore(set *schema.Set) bool {
	for name, on := range o.Serve { // order does not matter
		known := slices.ContainsFunc(set.Resources(), func(r schema.Resource) bool {
			return name == r.GV() || strings.HasPrefix(name, r.GV()+"/")
		})
		if !known && (on || !strings.HasPrefix(name, "api/")) && name != "api/ga" && name != "api/legacy" {
			return true
		}
	}
	return false
}

// serve returns the definitions that the options enable, and the definitions enabled by default that they do not disable.
func (o options) serve(defs []*resource.Definition) ([]*resource.Definition, error) {
	if len(o.Serve) == 0 {
		return defs, nil
	}
	known := map[string]bool{"api/ga": true, "api/beta": true, "api/alpha": true, "api/legacy": true}
	var out []*resource.Definition
	for _, d := range defs {
		on, named := false, false
		for _, name := range []string{d.GV() + "/" + d.Resource, d.GV(), "api/" + stability(d.Version), "api/all"} {
			if known[name] = true; !named {
				on, named = o.Serve[name]
			}
		}
		if on || !named && !d.Off {
			out = append(out, d)
		}
	}
	for _, name := range object.SortedKeys(o.Serve) {
		if !known[name] {
			return nil, fmt.Errorf("serve: there is no %q; say a group version (apps/v1) or a resource of one (apps/v1/deployments)", name)
		}
	}
	return out, nil
}

// stability returns the stability level of a version such as v1beta1, in the spelling that --runtime-config uses.
func stability(version string) string {
	switch {
	case strings.Contains(version, "alpha"):
		return "alpha"
	case strings.Contains(version, "beta"):
		return "beta"
	}
	return "ga"
}

// KnowsAPI reports whether config.Server.Serve may contain name for a server with the given version and feature gates.
func KnowsAPI(version string, gates map[string]bool, name string) bool {
	_, err := options{Version: version, FeatureGates: gates, Serve: map[string]bool{name: true}}.profile("", false)
	return err == nil
}
