package guard

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// parts are the types of which a cluster consists, by package. A part is complete when its constructor returns: its fields are
// assigned only by its own methods, and the functions, interfaces and other parts that it uses only by constructors.
var parts = map[string][]string{
	"sim":              {"Cluster", "lock", "parts", "followers"},
	"sim/admission":    {"Server"},
	"sim/aggregator":   {"Aggregator"},
	"sim/apiserver":    {"Server"},
	"sim/auth":         {"Auth"},
	"sim/auth/token":   {"Authority"},
	"sim/codec":        {"Decoder"},
	"sim/commit":       {"Log"},
	"sim/controller":   {"Manager", "Client"},
	"sim/crd":          {"Server"},
	"sim/discovery":    {"Documents"},
	"sim/fieldmanager": {"Manager"},
	"sim/history":      {"History"},
	"sim/kubelet":      {"Nodes"},
	"sim/observe":      {"Observer"},
	"sim/random":       {"Streams"},
	"sim/registry":     {"Registry"},
	"sim/replica":      {"Set", "Host", "Server", "Conversions", "Webhooks"},
	"sim/resource":     {"Table"},
	"sim/watchcache":   {"Cache", "Watch"},
}

// changing are the fields that are exceptions, and the reasons.
var changing = map[string]string{
	"sim/aggregator.Aggregator.through":  "Cluster.AggregateThrough sets it while the cluster runs",
	"sim/controller.Manager.Order":       "a program that steps controllers chooses their order while the cluster runs",
	"sim/controller.Manager.Plan":        "a program that steps controllers plans the next items",
	"sim/controller.Manager.Stepped":     "a program begins and ends to step controllers while the cluster runs",
	"sim/controller.Manager.OnReconcile": "a scenario begins to record reconciles while the cluster runs",
	"sim/history.History.journal":        "Cluster.Keep sets it while the cluster runs",
	"sim/history.History.shared":         "Cluster.Share sets it while the cluster runs",
	"sim/replica.Conversions.call":       "Cluster.ConvertThrough sets it while the cluster runs",
	"sim/replica.Set.auditor":            "Cluster.Audit sets it while the cluster runs",
	"sim/watchcache.Watch.cache":         "a watch joins its cache when the state that it begins with has been sent",
}

// TestPartsAreComplete checks that the parts of a cluster are complete when their constructors return.
func TestPartsAreComplete(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	checkTypes(t, func(s source) bool { return s.in("sim", "fake", "wasm") }, func(files []source, info *types.Info) {
		for _, s := range files {
			for _, a := range assigned(s, info) {
				known[a.field] = true
				if problem := a.problem(); problem != "" && changing[a.field] == "" {
					t.Errorf("%s assigns %s %s", s.at(a.node), a.field, problem)
				}
			}
		}
	})
	for field := range changing { // order does not matter: findings are independent
		if !known[field] {
			t.Errorf("%s is an exception, but nothing assigns it: remove it from changing", field)
		}
	}
}

// assignment is an assignment to a field of a part.
type assignment struct {
	node     ast.Node
	field    string // such as sim/apiserver.Server.Host
	wired    bool   // whether it is a function, an interface or a pointer to another part
	method   bool   // whether the assignment is in a method of the part
	creation bool   // whether it is in a constructor of the part or of a type that contains the part
}

// problem describes what is wrong with an assignment, or returns "".
func (a assignment) problem() string {
	switch {
	case a.creation:
	case a.wired:
		return "after the constructor has returned: make it an argument of the constructor; " +
			"in a circle of parts, pass a small interface that finds the other part when it is called, as whole in sim/cluster.go does"
	case !a.method:
		return "from outside: make it an argument of the constructor, or add a method that says what happens"
	}
	return ""
}

// assigned returns the assignments of a file to fields of parts.
func assigned(s source, info *types.Info) (found []assignment) {
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		add := func(n ast.Node, left ast.Expr) {
			for _, sel := range writes(left, info) {
				owner := named(info.TypeOf(sel.X))
				if owner == nil || !isPart(owner) {
					continue
				}
				a := assignment{node: n, field: partName(owner) + "." + sel.Sel.Name, wired: isWired(info.TypeOf(sel))}
				signature := info.Defs[f.Name].Type().(*types.Signature)
				home := info.Defs[f.Name].Pkg() == owner.Obj().Pkg()
				a.method = signature.Recv() != nil && named(signature.Recv().Type()) == owner
				a.creation = home && makes(signature, owner)
				found = append(found, a)
			}
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					add(n, left)
				}
			case *ast.IncDecStmt:
				add(n, n.X)
			}
			return true
		})
	}
	return found
}

// writes returns the field that an assignment to left modifies, and the fields whose values contain that field.
func writes(left ast.Expr, info *types.Info) (fields []*ast.SelectorExpr) {
	for {
		switch x := left.(type) {
		case *ast.ParenExpr:
			left = x.X
		case *ast.IndexExpr:
			left = x.X
		case *ast.SelectorExpr:
			if info.Selections[x] == nil {
				return fields // a variable of another package
			}
			fields = append(fields, x)
			if _, pointer := types.Unalias(info.TypeOf(x.X)).(*types.Pointer); pointer {
				return fields
			}
			left = x.X
		default:
			return fields
		}
	}
}

// makes reports whether a function returns the type or a type that contains it.
func makes(f *types.Signature, t *types.Named) bool {
	for i := range f.Results().Len() {
		made := named(f.Results().At(i).Type())
		if made == nil {
			continue
		}
		if made == t {
			return true
		}
		if s, ok := made.Underlying().(*types.Struct); ok {
			for i := range s.NumFields() {
				if s.Field(i).Type() == types.Type(t) {
					return true
				}
			}
		}
	}
	return false
}

// named returns the defined type of t or of its pointer's element, or nil.
func named(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// isWired reports whether a field of this type connects a part to another one.
func isWired(t types.Type) bool {
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Signature, *types.Interface:
		return true
	case *types.Pointer:
		n := named(u)
		return n != nil && isPart(n)
	}
	return false
}

func isPart(t *types.Named) bool {
	p := t.Obj().Pkg()
	return p != nil && slices.Contains(parts[strings.TrimPrefix(p.Path(), module+"/")], t.Obj().Name())
}

func partName(t *types.Named) string {
	return strings.TrimPrefix(t.Obj().Pkg().Path(), module+"/") + "." + t.Obj().Name()
}

func TestPartsAreCompleteFinds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := snippet(t, `
type lock struct{ n int; f func(); lists map[string]int; sub struct{ x int } }
type Cluster struct{ lock lock; next *Cluster; name string }
func New() *Cluster { c := &Cluster{}; c.lock.f = nil; c.next = c; return c }
func (c *Cluster) Rename() { c.name = ""; c.next = nil; c.lock.n = 1 }
func (l *lock) add() { l.n++; l.lists["a"] = 1; l.f = nil }
func helper(c *Cluster) { c.name = ""; c.lock.sub.x = 1; local := 1; local++ }
`)
	s.name = "sim/snippet.go"
	var found []string
	_, info := typesOf(module+"/sim", nil, []source{s})
	for _, a := range assigned(s, info) {
		if problem := a.problem(); problem != "" {
			word, _, _ := strings.Cut(problem, " ")
			found = append(found, s.at(a.node)[len("sim/snippet.go:"):]+" "+strings.TrimPrefix(a.field, "sim.")+" "+word)
		}
	}
	is.Equal(found, []string{
		"6 Cluster.next after", // a method that connects parts
		"6 lock.n from",        // a method of another type
		"7 lock.f after",       // a method that sets a function
		"8 Cluster.name from",  // a function
		"8 lock.sub from",      // a value in a field
		"8 Cluster.lock from",  // which contains that
	})
}
