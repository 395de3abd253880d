package dropin

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/replica"
)

// apisText lists the group versions of kube-apiserver, recorded with --runtime-config=api/all=true and all feature gates enabled.
//
//go:embed apis.txt
var apisText string

// apis maps the group versions of kube-apiserver to the resources that it serves if they are enabled.
var apis = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(apisText) {
		if words := strings.Fields(line); words[0] != "#" {
			all[words[0]] = words[1:]
		}
	}
	return all
})

// readRuntimeConfig sets which APIs are enabled and disabled. Its errors are those of kube-apiserver, with one exception: it also
// rejects an API that kube-apiserver would serve and that kubesim does not have. It accepts values that have no effect in
// kube-apiserver, and records them in idle.
func (s *servers) readRuntimeConfig(r *fake.ReplicaOptions) {
	all := s.runtimeConfig()
	names := slices.Sorted(maps.Keys(all))
	if err := checkGroups(names); err != nil {
		s.fails(err)
	}
	r.Serve = map[string]bool{}
	for _, name := range names {
		on, err := s.readAPISwitch(name, all[name])
		if err != nil {
			s.fails(err)
		}
		switch {
		case replica.KnowsAPI(r.Version, r.FeatureGates, strings.TrimPrefix(name, "/")):
			r.Serve[strings.TrimPrefix(name, "/")] = on
		case on && s.wouldServe(name):
			s.fails(fmt.Errorf("kubesim does not serve %s (--runtime-config): leave it out", name))
		default:
			s.idle = append(s.idle, "--runtime-config "+name)
		}
	}
}

// runtimeConfig returns the values of --runtime-config by name. As in kube-apiserver, a value for the group version v1, or for one of its
// resources without a leading "/", applies to all of v1.
func (s *servers) runtimeConfig() map[string]string {
	all := map[string]string{}
	for _, item := range s.list("runtime-config") {
		name, value, _ := strings.Cut(item, "=")
		core := strings.TrimPrefix(name, "api/")
		switch {
		case name == "api/legacy":
			continue
		case core == "v1" || strings.HasPrefix(core, "v1/"):
			name = "/v1"
		}
		all[name] = value
	}
	return all
}

// isStability reports whether a name selects versions of all groups by their stability.
func isStability(name string) bool {
	return slices.Contains([]string{"api/all", "api/ga", "api/beta", "api/alpha"}, name)
}

// checkGroups returns an error for a name that does not have the form of an API, or for unknown groups.
func checkGroups(names []string) error {
	var unknown []string
	for _, name := range names {
		if isStability(name) {
			continue
		}
		if n := strings.Count(name, "/"); n != 1 && n != 2 {
			return fmt.Errorf("runtime-config invalid key %s", name)
		}
		if group, _, _ := strings.Cut(name, "/"); !hasGroup(group) && !slices.Contains(unknown, groupVersion(name)) {
			unknown = append(unknown, groupVersion(name))
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("unknown api groups %s", strings.Join(unknown, ","))
	}
	return nil
}

func hasGroup(group string) bool {
	for gv := range apis() {
		if g, _, named := strings.Cut(gv, "/"); named && g == group || !named && group == "" {
			return true
		}
	}
	return false
}

// groupVersion returns the group version in an API's name, as in kube-apiserver's messages.
func groupVersion(name string) string {
	group, rest, _ := strings.Cut(name, "/")
	version, _, _ := strings.Cut(rest, "/")
	return strings.TrimPrefix(group+"/"+version, "/")
}

// readAPISwitch parses the value of --runtime-config for an API. An empty value means true. It returns kube-apiserver's error if
// the value, or the name of the API, is invalid.
func (s *servers) readAPISwitch(name, value string) (on bool, err error) {
	if isStability(name) {
		if value != "true" && value != "false" {
			return false, fmt.Errorf("invalid value %s=%s", name, value)
		}
		return value == "true", nil
	}
	if _, ok := apis()[groupVersion(name)]; !ok {
		return false, fmt.Errorf("group version %s that has not been registered", groupVersion(name))
	}
	if value == "" {
		on = true
	} else if on, err = strconv.ParseBool(value); err != nil {
		return false, fmt.Errorf("invalid value of %s: %s, err: %w", name, value, err)
	}
	if parts := strings.Split(name, "/"); len(parts) == 3 && strings.ToLower(parts[2]) != parts[2] {
		return false, fmt.Errorf("invalid key %s: group/version/resource and resource is always lowercase plural, not %q", name, parts[2])
	}
	return on, nil
}

// wouldServe reports whether kube-apiserver would serve any resources of an API if the API were enabled, with the feature gates on
// the command line.
func (s *servers) wouldServe(name string) bool {
	gates := s.switches("feature-gates")
	_, resource, one := strings.Cut(strings.TrimPrefix(name, "/"), groupVersion(name)+"/")
	for _, item := range apis()[groupVersion(name)] {
		served, gate, gated := strings.Cut(item, "@")
		on, said := gates[gate]
		if all := gates["AllAlpha"] || gates["AllBeta"]; (!one || resource == served) && (!gated || on || all && !said) {
			return true
		}
	}
	return false
}

// gatesText lists the feature gates of kube-apiserver.
//
//go:embed gates.txt
var gatesText string

// gates maps the feature gates of kube-apiserver to the state to which they are locked, or to "" if they are not locked.
var gates = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(gatesText) {
		if name, locked, _ := strings.Cut(strings.TrimSpace(line), " "); name != "#" {
			all[name] = locked
		}
	}
	return all
})

// checkGate returns kube-apiserver's error for a feature gate that does not exist, or that is locked to the other state. With an
// emulated version, it ignores locks, because that version may have different ones.
func checkGate(name string, on, emulated bool) error {
	locked, ok := gates()[name]
	switch {
	case !ok:
		return fmt.Errorf("unrecognized feature gate: %s", name)
	case locked != "" && locked != fmt.Sprint(on) && !emulated:
		return fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %s", name, on, locked)
	}
	return nil
}
