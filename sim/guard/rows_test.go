package guard

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rows define the allowed imports: a package may import only packages in rows above its own.
var rows = [][]string{
	{"clock", "sim/json", "sim/quantity", "sim/wire", "sim/random", "sim/trouble", "sim/cron", "sim/spelling", "sim/deadline", "sim/words", "sim/linediff", "sim/pack", "sim/gotemplate"},
	{"sim/object"},
	{"sim/field"},
	{"sim/status", "sim/selector", "sim/metadata", "sim/fault", "sim/trace", "sim/jsonpath", "sim/kubelet/images"},
	{"sim/mvcc", "sim/schema", "sim/checker", "sim/auth/token"},
	{"sim/resource", "sim/crd/structural"},
	{"sim/codec", "sim/cel/expr", "sim/commit"},
	{"sim/cel/celgo", "sim/cbor", "sim/patch"},
	{"sim/cel"},
	{"sim/webhook", "sim/kubectl/kustomize", "sim/kubectl/flags", "sim/kubectl/manifest"},
	{"sim/kubectl/client", "sim/kubectl/shell"},
	{"sim/kubectl/explain", "sim/kubectl/patches", "sim/kubectl/printer", "sim/kubectl/rollout"},
	{"sim/kubectl/describe", "sim/kubectl/generate"},
	{"sim/kubectl"},
	{"sim/builtin/table", "sim/builtin/gotext"},
	{"sim/builtin/kind"},
	{"sim/builtin/podspec", "sim/builtin/kindtest"},
	{"sim/builtin/admissionregistration", "sim/builtin/apiextensions", "sim/builtin/apiregistration", "sim/builtin/apps",
		"sim/builtin/authentication", "sim/builtin/authorization", "sim/builtin/autoscaling", "sim/builtin/batch",
		"sim/builtin/certificates", "sim/builtin/coordination", "sim/builtin/flowcontrol", "sim/builtin/node", "sim/builtin/policy",
		"sim/builtin/rbac", "sim/builtin/scheduling", "sim/builtin/apiserverinternal", "sim/builtin/storagemigration"},
	{"sim/builtin/core"},
	{"sim/builtin/discovery", "sim/builtin/resource", "sim/builtin/storage"},
	{"sim/builtin/networking"},
	{"sim/fieldmanager", "sim/watchcache", "sim/builtin", "sim/crd", "sim/admission", "sim/auth", "sim/flowcontrol"},
	{"sim/config", "sim/scenario/condition"},
	{"sim/registry", "sim/boot", "sim/history", "sim/scenario/actor"},
	{"sim/discovery/openapi", "sim/controller", "sim/registry/registrytest"},
	{"sim/controller/workload", "sim/kubelet/shell"},
	{"sim/controller/claims", "sim/controller/devices"},
	{"sim/controller/account", "sim/controller/apps", "sim/controller/autoscaling", "sim/controller/batch",
		"sim/controller/certificates", "sim/controller/network", "sim/controller/node", "sim/controller/policy", "sim/controller/resource",
		"sim/controller/volume", "sim/kubelet", "sim/scheduler"},
	{"sim/discovery", "sim/controller/server", "sim/controller/manager"},
	{"sim/apiserver"},
	{"sim/aggregator"},
	{"sim/replica"},
	{"sim/observe"},
	{"sim"},
	{"sim/scenario", "sim/archive"},
	{"sim/lesson", "sim/soak"},
	{"fake/configfile", "fake/grpc", "fake/kubeconfig", "fake/stored"},
	{"fake/dump", "fake/etcd"},
	{"wasm/engine", "fake/answer", "fake/audit", "fake/authorization", "fake/chance", "fake/control", "fake/encryption", "fake/explore/campaign", "fake/meter", "fake/oidc", "fake/oracle", "fake/record", "fake/signer"},
	{"fake/listen", "fake/outbound"},
	{"fake", "wasm"},
	{"fake/conformance", "fake/explore", "fake/flags"},
	{"fake/dropin", "fake/kubectl"},
	{"fake/check", "fake/gotest/inside"},
	{"fake/gotest"},
	{"fake/cmd/kubesim"},
}

// testSupport are packages without a row. They import no other package of the project, and only tests import them.
var testSupport = []string{"sim/conformance", "sim/guard", "fake/listen/listentest"}

// testKits are packages that only tests import.
var testKits = []string{"sim/builtin/kindtest", "sim/registry/registrytest"}

// homes maps each dependency to the package that may import it (tests may import it, too).
var homes = map[string]string{
	"cel.dev/cel-go":                       "sim/cel/celgo",
	"github.com/evanphx/json-patch/v5":     "sim/patch",
	"github.com/google/btree":              "sim/mvcc",
	"github.com/fxamacker/cbor/v2":         "sim/cbor",
	"github.com/go-jose/go-jose/v4":        "fake/oidc",
	"github.com/gorilla/websocket":         "fake/answer",
	"github.com/klauspost/compress":        "fake/dump",
	"github.com/matryer/is":                "tests",
	"github.com/moby/spdystream":           "fake/answer",
	"github.com/robfig/cron/v3":            "sim/cron",
	"github.com/tidwall/buntdb":            "sim/archive",
	"golang.org/x/crypto":                  "fake/encryption",
	"go.yaml.in/yaml/v3":                   "fake/check",
	"google.golang.org/protobuf":           "sim/codec",
	"sigs.k8s.io/structured-merge-diff/v4": "sim/fieldmanager",
	"sigs.k8s.io/yaml":                     "sim/codec",
}

// rowOf returns the row of a package in the root module.
func rowOf(dir string) (int, bool) {
	for i, row := range rows {
		if slices.Contains(row, dir) {
			return i, true
		}
	}
	return 0, false
}

func rootModule(s source) bool { return s.owner == "" }

func TestRows(t *testing.T) {
	t.Parallel()
	unknown := map[string]bool{}
	for _, s := range mustSources(t, rootModule) {
		row, known := rowOf(s.dir())
		support := slices.Contains(testSupport, s.dir())
		if !known && !support {
			unknown[s.dir()] = true
			continue
		}
		for _, p := range slices.Sorted(maps.Values(s.imports())) {
			to, own := strings.CutPrefix(p, module+"/")
			if !own || s.isTest() {
				continue
			}
			theirs, ok := rowOf(to)
			switch {
			case support || slices.Contains(testSupport, to):
				t.Errorf("%s imports %s: %v stand alone, only tests import them", s.name, to, testSupport)
			case slices.Contains(testKits, to):
				t.Errorf("%s imports %s, which is for tests", s.name, to)
			case ok && theirs >= row:
				t.Errorf("%s imports %s, which is not in a row above %s: move the code down, or take a small interface or a func",
					s.name, to, s.dir())
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(unknown)) {
		t.Errorf("package %s has no row: add it to the table in sim/guard/rows_test.go and to the design, or put its code where it belongs", dir)
	}
}

// TestHomes checks that each dependency is imported by only one package, so that it can be reviewed and replaced there.
func TestHomes(t *testing.T) {
	t.Parallel()
	for _, s := range mustSources(t, rootModule) {
		for _, p := range slices.Sorted(maps.Values(s.imports())) {
			first, _, _ := strings.Cut(p, "/")
			if s.isTest() || !strings.Contains(first, ".") || strings.HasPrefix(p, module) {
				continue
			}
			home, ok := homeOf(p)
			switch {
			case !ok:
				t.Errorf("%s imports %s: a new dependency needs a home in sim/guard/rows_test.go and a reason in the commit message", s.name, p)
			case home != s.dir():
				t.Errorf("%s imports %s, which lives in %s: use that package", s.name, p, home)
			}
		}
	}
}

func homeOf(p string) (string, bool) {
	for dep, home := range homes { // order does not matter: no dependency is a prefix of another
		if p == dep || strings.HasPrefix(p, dep+"/") {
			return home, true
		}
	}
	return "", false
}

// requirement matches a line of go.mod that requires a module of Kubernetes.
var requirement = regexp.MustCompile(`(?m)^\s*(?:require\s+)?((?:sigs\.)?k8s\.io/\S+) v`)

// lent are the Kubernetes modules that the root go.mod may require. None of them is tied to a version of client-go.
var lent = []string{"sigs.k8s.io/structured-merge-diff/v4", "sigs.k8s.io/yaml", "sigs.k8s.io/randfill"}

func TestRootModuleRequiresNoKubernetes(t *testing.T) {
	t.Parallel()
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range requirement.FindAllStringSubmatch(string(all["go.mod"]), -1) {
		if !slices.Contains(lent, m[1]) {
			t.Errorf("go.mod requires %s: it would move the client-go version of everyone who uses kubesim in tests. "+
				"What needs Kubernetes modules belongs into examples/ or sim/schema/gen/, which are modules of their own", m[1])
		}
	}
}

// imported returns the imports of each package of the root module and its dependencies.
func imported(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	for _, line := range goList(t, "-e", "-deps", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "./...") {
		name, list, _ := strings.Cut(line, ": ")
		imports[name] = strings.Fields(list)
	}
	return imports
}

// TestNoHTTPInTheCore checks that the core does not import net/http, which adds most of a megabyte to a page, goroutines and timers.
func TestNoHTTPInTheCore(t *testing.T) {
	t.Parallel()
	imports := imported(t)
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		dir := strings.TrimPrefix(name, module+"/")
		core := strings.HasPrefix(dir+"/", "sim/") || strings.HasPrefix(dir+"/", "wasm/")
		if !core || slices.Contains(testSupport, dir) {
			continue
		}
		if chain := reach(imports, name, "net/http", map[string]bool{}); chain != nil {
			t.Errorf("%s: methods, codes and headers are in sim/wire; what connects belongs into fake, behind a func", strings.Join(chain, " imports "))
		}
	}
}

// bubbles are the packages that may import testing, because Explore runs tests in bubbles, which only testing/synctest can create,
// and package fake names the types of its arguments. The flags of package testing are defined by a test's main function, not by the
// import.
var bubbles = []string{module + "/fake", module + "/fake/explore"}

// TestNoTestingInPrograms checks that programs that import the simulator do not link package testing.
func TestNoTestingInPrograms(t *testing.T) {
	t.Parallel()
	imports := imported(t)
	known := map[string]bool{}
	for _, name := range bubbles {
		if known[name] = true; !slices.Contains(imports[name], "testing") {
			t.Errorf("%s no longer imports testing: take its exception away", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		if !strings.HasPrefix(name, module) || known[name] {
			continue
		}
		if chain := reach(imports, name, "testing", maps.Clone(known)); chain != nil {
			t.Errorf("%s: take a small interface with the methods you need, as conformance.TB does", strings.Join(chain, " imports "))
		}
	}
}

// reach returns a chain of imports from one package to another, or nil.
func reach(imports map[string][]string, from, to string, seen map[string]bool) []string {
	if from == to {
		return []string{to}
	}
	seen[from] = true
	for _, next := range imports[from] {
		if !seen[next] {
			if chain := reach(imports, next, to, seen); chain != nil {
				return append([]string{from}, chain...)
			}
		}
	}
	return nil
}
