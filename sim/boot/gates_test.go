//go:build !js

package boot

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kind"
)

// TestRolesOfGates checks which roles gates add, and that a gate that is enabled by default adds none: the recorded objects have its
// roles. The cases workloads/roles compare their rules with those of real servers.
func TestRolesOfGates(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	added := func(minor string, gates ...string) (names []string) {
		usual := map[string]bool{}
		for _, p := range Policies(minor, nil) {
			usual[p.Storage+" "+p.Name()] = true
		}
		for _, p := range Policies(minor, gates) {
			if !usual[p.Storage+" "+p.Name()] {
				names = append(names, p.Name())
			}
		}
		return names
	}
	const controller = "system:controller:"
	is.Equal(added("1.36", "PodCertificateRequest"), []string{controller + "podcertificaterequestcleaner", controller + "podcertificaterequestcleaner"}) // a role and its binding
	is.Equal(added("1.37", "PodCertificateRequest"), nil)
	trust := added("1.36", "ClusterTrustBundle")
	is.True(slices.Contains(trust, "system:cluster-trust-bundle-discovery") && slices.Contains(trust, controller+"kube-apiserver-serving-clustertrustbundle-publisher"))

	server, err := kind.Server("1.36", map[string]bool{"GenericWorkload": true, "DRADeviceTaintRules": true})
	is.NoErr(err)
	is.Equal(ChangesRoles("1.36", server.Gates), []string{"DRADeviceTaintRules", "GenericWorkload"})
	server, err = kind.Server("1.37", nil)
	is.NoErr(err)
	is.Equal(ChangesRoles("1.37", server.Gates), nil) // the defaults
}

// TestRuleBeforeOthers checks that the added rules of a role have the place that they have on a real server.
func TestRuleBeforeOthers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for _, p := range Policies("1.36", []string{"PodCertificateRequest", "ClusterTrustBundle"}) {
		if p.Name() == "system:node" && p.Kind() == "ClusterRole" {
			rules := p.Objects("rules")
			is.Equal(rules[len(rules)-1].List("resources"), []any{"podcertificaterequests"})
			is.Equal(rules[len(rules)-3].List("resources"), []any{"clustertrustbundles"})
		}
	}
}
