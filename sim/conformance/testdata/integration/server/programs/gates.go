package programs

import (
	"fmt"
	"slices"

	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	// Their gates are those of kube-apiserver.
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// pristine holds the feature gates before a test sets any.
var pristine = utilfeature.DefaultMutableFeatureGate.DeepCopy()

// GateFlags returns the flags that give a kube-apiserver the feature gates, and the versions, that a test has set in this
// process. Gates that only this process knows are left out.
func GateFlags() (flags Flags, err error) {
	now, before := utilfeature.DefaultMutableFeatureGate, pristine.DeepCopy()
	if emulated, least := now.EmulationVersion(), now.MinCompatibilityVersion(); !emulated.EqualTo(before.EmulationVersion()) || !least.EqualTo(before.MinCompatibilityVersion()) {
		flags = append(flags, Flag{"emulated-version", "kube=" + emulated.String()}, Flag{"min-compatibility-version", "kube=" + least.String()},
			Flag{"runtime-config-emulation-forward-compatible", "true"})
		if err := before.SetEmulationVersionAndMinCompatibilityVersion(emulated, least); err != nil {
			return nil, err
		}
	}
	var names []string
	for gate := range before.GetAll() {
		if before.Enabled(gate) != now.Enabled(gate) {
			names = append(names, fmt.Sprintf("%s=%t", gate, now.Enabled(gate)))
		}
	}
	slices.Sort(names)
	for _, name := range names {
		flags = append(flags, Flag{"feature-gates", name})
	}
	return flags, nil
}

// Registry holds the gates and versions of a test's options.
type Registry struct {
	basecompatibility.ComponentGlobalsRegistry
	gates featuregate.MutableVersionedFeatureGate
}

// NewRegistry returns a registry with this process's gates and versions.
func NewRegistry() (*Registry, error) {
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	version := compatibility.DefaultKubeEffectiveVersionForTest()
	version.SetEmulationVersion(gates.EmulationVersion())
	version.SetMinCompatibilityVersion(gates.MinCompatibilityVersion())
	r := &Registry{basecompatibility.NewComponentGlobalsRegistry(), gates}
	return r, r.Register(basecompatibility.DefaultKubeComponent, version, gates)
}

// Export sets this process's gates and versions to the values that flags have set in the registry, until the test ends, because the
// controllers of a test run in this process.
func (r *Registry) Export(t featuregatetesting.TB) error {
	if err := r.Set(); err != nil {
		return err
	}
	all := utilfeature.DefaultMutableFeatureGate
	if !r.gates.EmulationVersion().EqualTo(all.EmulationVersion()) || !r.gates.MinCompatibilityVersion().EqualTo(all.MinCompatibilityVersion()) {
		featuregatetesting.SetFeatureGateVersionsDuringTest(t, all, r.gates.EmulationVersion(), r.gates.MinCompatibilityVersion())
	}
	changed := map[featuregate.Feature]bool{}
	for gate := range all.GetAll() {
		if on := r.gates.Enabled(gate); on != all.Enabled(gate) {
			changed[gate] = on
		}
	}
	if len(changed) > 0 {
		featuregatetesting.SetFeatureGatesDuringTest(t, all, changed)
	}
	return nil
}
