package guard

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// parsing describes a package that parses external input.
type parsing struct {
	reads   string
	targets []string // fuzz targets in the package
	why     string   // reason for having no target: another package's target covers it, or its input is trusted
}

// parsers lists these packages by directory. Each package with a function that parses text or bytes has an entry, which names a
// fuzz target or a reason for having none.
var parsers = map[string]parsing{
	"examples/crds":               {reads: "manifests", targets: []string{"FuzzParts"}},
	"examples/documents":          {reads: "documents of the project", why: "they are in the tree"},
	"examples/frobber":            {reads: "objects of several versions", targets: []string{"FuzzNormalize", "FuzzRoundTrip"}},
	"examples/operator/api/v1":    {reads: "objects of two versions", targets: []string{"FuzzConversion"}},
	"examples/soak":               {reads: "answers", why: "FuzzRead of sim/checker"},
	"fake":                        {reads: "requests of all kinds, sessions over WebSocket and SPDY; the naive model says what is right", targets: []string{"FuzzExpressions", "FuzzHandler", "FuzzModel", "FuzzUpgrade"}},
	"fake/answer":                 {reads: "sessions over WebSocket and SPDY", why: "FuzzUpgrade of fake"},
	"fake/check":                  {reads: "files of objects, and of policy tests", targets: []string{"FuzzPolicyTests", "FuzzRead"}},
	"fake/audit":                  {reads: "audit policies", targets: []string{"FuzzPolicy"}},
	"fake/control":                {reads: "what a request does to replicas and controllers", why: "FuzzHandler of fake"},
	"fake/cmd/kubesim":            {reads: "flags", targets: []string{"FuzzArguments"}},
	"fake/dropin":                 {reads: "flags of kube-apiserver and etcd", targets: []string{"FuzzFlags"}},
	"fake/dump":                   {reads: "files of objects, archives, snapshots of etcd", targets: []string{"FuzzDatabase", "FuzzFile", "FuzzText"}},
	"fake/etcd":                   {reads: "messages of etcd's clients", targets: []string{"FuzzParse"}},
	"fake/stored":                 {reads: "values of etcd", why: "FuzzDatabase of fake/dump"},
	"fake/explore/campaign":       {reads: "plans, schemas, stacks and logs", targets: []string{"FuzzHang", "FuzzMerge", "FuzzParse", "FuzzPatch"}},
	"fake/flags":                  {reads: "its table, and values of flags", targets: []string{"FuzzSet"}},
	"fake/configfile":             {reads: "configuration files", targets: []string{"FuzzDecode"}},
	"fake/authorization":          {reads: "configurations of authorizers", why: "FuzzDecode of fake/configfile"},
	"fake/kubeconfig":             {reads: "kubeconfigs", why: "FuzzAdmissionConfig of fake/outbound"},
	"fake/grpc":                   {reads: "messages of protobuf", targets: []string{"FuzzParse"}},
	"fake/encryption":             {reads: "configurations of encryption, and values of etcd", targets: []string{"FuzzDecrypt"}},
	"fake/oidc":                   {reads: "configurations of issuers, and tokens", targets: []string{"FuzzAuthenticate"}},
	"fake/kubectl":                {reads: "kubeconfigs, and frames of WebSocket", targets: []string{"FuzzFrames", "FuzzKubeconfig"}},
	"fake/listen":                 {reads: "origins", targets: []string{"FuzzOrigins"}},
	"fake/outbound":               {reads: "admission files with their kubeconfigs", targets: []string{"FuzzAdmissionConfig"}},
	"fake/record":                 {reads: "recordings, audit logs, and bodies of requests and answers", targets: []string{"FuzzReplay", "FuzzStory"}},
	"fake/cmd/release":            {reads: "its flags, files of the project, and archives", why: "whoever releases has written them"},
	"sim/apiserver":               {reads: "paths and queries", targets: []string{"FuzzInfo"}},
	"sim/archive":                 {reads: "archives, and the log that keeps up", targets: []string{"FuzzLog", "FuzzRead"}},
	"sim/auth":                    {reads: "files of tokens", targets: []string{"FuzzReadTokens"}},
	"sim/auth/token":              {reads: "tokens and keys", targets: []string{"FuzzCheck", "FuzzKeys"}},
	"sim/boot":                    {reads: "what servers make when they start", why: "it is in the tree"},
	"sim/builtin/apps":            {reads: "fields of stored objects", why: "FuzzHandler of fake"},
	"sim/builtin/batch":           {reads: "indexes of Jobs", why: "FuzzHandler of fake"},
	"sim/builtin/certificates":    {reads: "certificates and signing requests", targets: []string{"FuzzLeaf"}},
	"sim/builtin/core":            {reads: "annotations of nodes that hold JSON", targets: []string{"FuzzNodeAnnotations"}},
	"sim/builtin/gotext":          {reads: "how Go prints types", why: "it is generated, and in the tree"},
	"sim/builtin/kind":            {reads: "annotations", why: "FuzzHandler of fake"},
	"sim/builtin/kindtest":        {reads: "objects of tests", why: "only tests have it"},
	"sim/cbor":                    {reads: "CBOR", targets: []string{"FuzzToJSON"}},
	"sim/cel":                     {reads: "selectors of shards", why: "FuzzShards of sim/cel/celgo"},
	"sim/cel/celgo":               {reads: "rules in CEL, with the formats that they know, and selectors of shards", targets: []string{"FuzzRules", "FuzzShards"}},
	"sim/checker":                 {reads: "answers and events", targets: []string{"FuzzRead"}},
	"sim/codec":                   {reads: "JSON, YAML, protobuf, what a client accepts", targets: []string{"FuzzComparePathElements", "FuzzDecode", "FuzzNegotiate", "FuzzPartial", "FuzzPlainJSON", "FuzzProto", "FuzzYAML"}},
	"sim/conformance":             {reads: "cases and recordings", targets: []string{"FuzzDecode", "FuzzParseCase"}},
	"sim/controller/batch":        {reads: "indexes of Jobs", targets: []string{"FuzzIndexes"}},
	"sim/controller/certificates": {reads: "signing requests", targets: []string{"FuzzRequest"}},
	"sim/controller/network":      {reads: "addresses of stored objects", why: "they were validated: FuzzIP of sim/field"},
	"sim/crd":                     {reads: "definitions of custom resources", targets: []string{"FuzzDefinition"}},
	"sim/crd/structural":          {reads: "schemas of definitions", targets: []string{"FuzzStructural"}},
	"sim/cron":                    {reads: "schedules", targets: []string{"FuzzSchedule"}},
	"sim/discovery":               {reads: "requests of discovery", targets: []string{"FuzzServe"}},
	"sim/fault":                   {reads: "faults and decisions", targets: []string{"FuzzParse", "FuzzParseDecisions"}},
	"sim/field":                   {reads: "paths of fields, IP addresses and networks", targets: []string{"FuzzIP", "FuzzPath"}},
	"sim/fieldmanager":            {reads: "managed fields", targets: []string{"FuzzManagedFields"}},
	"sim/gotemplate":              {reads: "templates of Go", targets: []string{"FuzzTemplate"}},
	"sim/json":                    {reads: "JSON", targets: []string{"FuzzScanner"}},
	"sim/jsonpath":                {reads: "templates and paths", targets: []string{"FuzzTemplate"}},
	"fake/gotest":                 {reads: "command lines, files of go list and its own reports", targets: []string{"FuzzParse"}},
	"sim/kubectl":                 {reads: "command lines, files and answers", targets: []string{"FuzzLine"}},
	"sim/kubectl/client":          {reads: "files, by what flags name", why: "FuzzLine of sim/kubectl"},
	"sim/kubectl/flags":           {reads: "flags", why: "FuzzLine of sim/kubectl"},
	"sim/kubectl/manifest":        {reads: "files of objects", why: "FuzzLine of sim/kubectl"},
	"sim/kubectl/printer":         {reads: "templates", why: "FuzzLine of sim/kubectl, FuzzTemplate of sim/jsonpath and sim/gotemplate"},
	"sim/kubectl/shell":           {reads: "lines of a prompt, and what is pasted", why: "FuzzLine of sim/kubectl, FuzzSplit of sim/words"},
	"sim/kubelet":                 {reads: "pods and what they name", why: "they were validated: FuzzWorld of sim/scenario; FuzzScript of sim/kubelet/images"},
	"sim/kubelet/images":          {reads: "annotations that say what containers do", targets: []string{"FuzzScript"}},
	"sim/kubelet/shell":           {reads: "commands of containers", targets: []string{"FuzzShell"}},
	"sim/kubectl/kustomize":       {reads: "kustomizations", targets: []string{"FuzzBuild"}},
	"sim/lesson":                  {reads: "files of lessons", targets: []string{"FuzzParse"}},
	"sim/mvcc":                    {reads: "operations on the store", targets: []string{"FuzzStore"}},
	"sim/object":                  {reads: "JSON", targets: []string{"FuzzJSON"}},
	"sim/pack":                    {reads: "texts that it has packed", targets: []string{"FuzzPack"}},
	"sim/patch":                   {reads: "patches", targets: []string{"FuzzJSONPatch", "FuzzStrategic"}},
	"sim/quantity":                {reads: "quantities", targets: []string{"FuzzQuantity"}},
	"sim/registry":                {reads: "continue tokens and options of lists", targets: []string{"FuzzContinueToken", "FuzzListOptions"}},
	"sim/replica":                 {reads: "what the store has", why: "servers have written it, or FuzzRead of sim/archive"},
	"sim/scenario/actor":          {reads: "rules of controllers", why: "FuzzParseRules of sim/scenario"},
	"sim/scenario/condition":      {reads: "conditions", why: "FuzzParseCondition of sim/scenario"},
	"sim/scenario":                {reads: "scenarios, lines, conditions, rules and traces", targets: []string{"FuzzParse", "FuzzParseCondition", "FuzzParseFile", "FuzzParseRules", "FuzzParseTrace", "FuzzWorld"}},
	"sim/scheduler":               {reads: "what a scheduler has saved of itself", why: "FuzzRead of sim/archive"},
	"sim/schema":                  {reads: "schema data", targets: []string{"FuzzParse"}},
	"sim/selector":                {reads: "selectors", targets: []string{"FuzzFields", "FuzzLabels"}},
	"sim/trace":                   {reads: "traces", targets: []string{"FuzzParse"}},
	"sim/trouble":                 {reads: "words of faults", targets: []string{"FuzzParse"}},
	"sim/webhook":                 {reads: "answers of webhooks", targets: []string{"FuzzAnswer"}},
	"sim/wire":                    {reads: "names of headers", targets: []string{"FuzzCanonical"}},
	"sim/words":                   {reads: "lines of words", targets: []string{"FuzzSplit"}},
	"wasm/engine":                 {reads: "messages of the page, what is in a link (web/src/share/codec.ts unpacks it), texts that are shown side by side, protobuf that is shown", targets: []string{"FuzzDiff", "FuzzHandle", "FuzzOpenWire", "FuzzYAMLLines"}},
}

// parses matches the names of parsing functions. Only functions with a readable parameter and a result count.
var parses = regexp.MustCompile(`^(Parse|parse|Read|read|Decode|decode|Unmarshal|unmarshal|Load|load|Open|open|tokenize|scan)([A-Z].*)?$`)

// readable are the parameter types that can be parsed.
var readable = []string{"string", "[]byte", "io.Reader", "[]string", "*bufio.Reader", "[][]byte", "json.RawMessage"}

// reads reports whether a function has a readable parameter and a result. A function without a result does not parse.
func reads(f *ast.FuncDecl, text func(ast.Expr) string) bool {
	return f.Type.Results != nil && slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool { return slices.Contains(readable, text(p.Type)) })
}

func TestParsers(t *testing.T) {
	found := map[string][]string{}
	targets := map[string][]string{}
	for _, s := range mustSources(t, func(s source) bool { return !s.in("sim/schema/gen", "sim/guard") }) {
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case s.isTest() && strings.HasPrefix(f.Name.Name, "Fuzz") && f.Recv == nil:
				targets[s.dir()] = append(targets[s.dir()], f.Name.Name)
			case !s.isTest() && parses.MatchString(f.Name.Name) && reads(f, s.text):
				found[s.dir()] = append(found[s.dir()], f.Name.Name)
			}
		}
	}
	for dir, names := range found { // the order of complaints does not matter
		if _, ok := parsers[dir]; !ok {
			t.Errorf("%s reads what comes from outside (%s): give it a row in parsers, with a fuzz target or why it has none", dir, strings.Join(names, ", "))
		}
	}
	for dir, names := range targets { // nor here
		slices.Sort(names)
		if want := slices.Sorted(slices.Values(parsers[dir].targets)); !slices.Equal(names, want) {
			t.Errorf("%s has the fuzz targets %v, and its row says %v", dir, names, want)
		}
		for _, name := range names {
			if seeds, _ := filepath.Glob(filepath.Join(root, dir, "testdata/fuzz", name, "*")); len(seeds) == 0 {
				t.Errorf("%s: %s has no corpus in testdata/fuzz", dir, name)
			}
		}
	}
	for dir, p := range parsers { // nor here
		if _, err := os.Stat(filepath.Join(root, dir)); err != nil || (len(p.targets) == 0) != (p.why != "") || p.reads == "" {
			t.Errorf("%s: a row says what is read, and either the targets or why there is none: %v", dir, err)
		}
		if len(p.targets) > 0 && len(targets[dir]) == 0 {
			t.Errorf("%s: its row says %v, and there is no target", dir, p.targets)
		}
	}
}

// text returns the source text of a type.
func (s source) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return s.text(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + s.text(e.X)
	case *ast.ArrayType:
		if e.Len == nil {
			return "[]" + s.text(e.Elt)
		}
	}
	return ""
}
