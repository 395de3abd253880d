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

// options are the options of one API server.
type options config.Server

// Profile contains the definitions and settings of an API server that follow from its config.Server. Replicas with equal profiles
// share one, and read each other's stored objects without conversion.
//
//	Options ─▶ schema.Set of the minor ─▶ builtin definitions with its gates ─▶ all, hubs
//	                                                                                    └─ Serve ─▶ served
type Profile struct {
	name    string
	release string
	set     *schema.Set
	hubs    map[string]*resource.Definition // of everything known, by storage name
	served  []*resource.Definition
	proxies bool // PeerProxy
	refuses bool // NoPrivileged

	server resource.Server
	flags  map[string]string // that are not the defaults
}

// serves reports whether the server has built-in resources of a group. It serves no custom resources of such a group, in any
// version: requests for them are routed to the built-in ones.
func (p *Profile) serves(group string) bool {
	return slices.ContainsFunc(p.served, func(d *resource.Definition) bool { return d.Group == group })
}

// KnowsGate reports whether a feature gate decides something here: others are no error of config.Server.FeatureGates.
func KnowsGate(name string) bool {
	_, err := kind.Server(schema.Default, map[string]bool{name: true})
	return err == nil
}

// Profiles returns the profile of each server; of none, that of one server with all defaults.
func Profiles(replicas []config.Server) ([]*Profile, error) {
	if len(replicas) == 0 {
		replicas = make([]config.Server, 1)
	}
	names, out := make([]string, len(replicas)), make([]*Profile, len(replicas))
	skewed := false
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

// minor returns the minor version in the options.
func (o options) minor() (string, error) {
	r, ok := schema.ReleaseOf(cmp.Or(o.Version, schema.Default))
	if !ok {
		return "", fmt.Errorf("there is no version %q; there are %s", o.Version, strings.Join(schema.Known(), ", "))
	}
	return r.Minor, nil
}

// name is equal for equal servers.
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
	return fmt.Sprint(m, " ", o.release(m), " ", server.Gates, " ", o.Serve, " ", o.StorageVersions, " ", o.PeerProxy, " ", o.NoPrivileged, " ", o.Flags), nil // maps are printed sorted
}

// flags returns the flags of kube-apiserver that correspond to the options.
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

// release is the whole version.
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

// serve returns the definitions that are not turned off.
func (o options) serve(defs []*resource.Definition) ([]*resource.Definition, error) {
	if len(o.Serve) == 0 {
		return defs, nil
	}
	known := map[string]bool{"api/ga": true, "api/beta": true, "api/alpha": true, "api/legacy": true}
	var out []*resource.Definition
	for _, d := range defs {
		on, named := true, false
		for _, name := range []string{d.GV() + "/" + d.Resource, d.GV(), "api/" + stability(d.Version), "api/all"} {
			if known[name] = true; !named {
				on, named = o.Serve[name]
			}
		}
		if on || !named {
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

// stability is the word of --runtime-config for versions such as v1beta1.
func stability(version string) string {
	switch {
	case strings.Contains(version, "alpha"):
		return "alpha"
	case strings.Contains(version, "beta"):
		return "beta"
	}
	return "ga"
}

// KnowsAPI reports whether a name may be one of config.Server.Serve for a server of that version: others are served by
// none.
func KnowsAPI(version, name string) bool {
	_, err := options{Version: version, Serve: map[string]bool{name: true}}.profile("", false)
	return err == nil
}
