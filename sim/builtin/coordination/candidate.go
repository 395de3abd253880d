package coordination

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

// oldestVersion is the strategy that elects the candidate with the oldest version.
const oldestVersion = "OldestEmulationVersion"

// candidateKind returns the kind LeaseCandidate, which no server serves by default (KEP-4355).
func candidateKind() kind.Kind {
	return kind.Kind{
		Storage: "leasecandidates.coordination.k8s.io",
		Strategy: resource.Strategy{
			AllowCreateOnUpdate: true, DenyUnconditionalUpdate: true, AnyFinalizers: true,
			NameRule: func(name string, _ bool) []string { return field.ConfigMapKey(name) },
		},
		Validate: func(_ *resource.Context, at field.Cursor) {
			validateCandidate(at.Child("spec"))
			at.Child("spec", "leaseName").Immutable()
		},
		Columns: []table.Column{table.Name(), table.Doc("LeaseName", "io.k8s.api.coordination.v1alpha2.LeaseCandidateSpec", "leaseName").At("spec", "leaseName"),
			table.Text("BinaryVersion", "").At("spec", "binaryVersion"), table.Text("EmulationVersion", "").At("spec", "emulationVersion"), table.Age()},
	}
}

// validateCandidate validates the spec of a LeaseCandidate (pkg/apis/coordination/validation.ValidateLeaseCandidateSpec).
func validateCandidate(at field.Cursor) {
	const broken = "must be a valid semantic version"
	at.Child("leaseName").Required()
	emulated, binary, strategy := at.Child("emulationVersion"), at.Child("binaryVersion"), at.Child("strategy")
	emulated.InvalidIf(emulated.String() != "" && !kind.IsSemver(emulated.String()), broken)
	if binary.Required().String() != "" {
		binary.InvalidIf(!kind.IsSemver(binary.String()), broken)
	}
	given := binary.String() != "" && emulated.String() != ""
	binary.InvalidIf(given && kind.CompareSemver(binary.String(), emulated.String()) < 0, "must be greater than or equal to `emulationVersion`")
	switch name := strategy.Required().String(); {
	case name == oldestVersion:
		none := kind.CompareSemver(emulated.String(), "0.0.0") == 0
		emulated.RequireIf(none, "must be specified when `strategy` is 'OldestEmulationVersion'")
	case strings.Contains(name, "/"):
		strategy.ReportAt(strategy.Child("strategy")).Check(field.QualifiedName)
	case name != "":
		strategy.ReportAt(strategy.Child("strategy")).NotSupported(name, oldestVersion)
	}
}
