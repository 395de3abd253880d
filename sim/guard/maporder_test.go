package guard

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promise matches the comment that allows a loop over a map, on its line or the line above.
var promise = regexp.MustCompile(`sorted below|order does not matter`)

// TestMapOrder checks that the random order of maps does not affect results. A loop over a map is allowed if its body obviously
// does not depend on the order (it fills another map, counts, deletes, or returns a boolean), if the function sorts afterwards, or
// if a comment matches promise.
func TestMapOrder(t *testing.T) {
	t.Parallel()
	checkTypes(t, core, func(files []source, info *types.Info) {
		for _, s := range files {
			for _, finding := range mapOrder(s, info) {
				t.Error(finding)
			}
		}
	})
}

// mapOrder returns a line for each forbidden loop.
func mapOrder(s source, info *types.Info) (out []string) {
	promised := promisedLines(s)
	for _, d := range s.ast.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			loop, ok := n.(*ast.RangeStmt)
			if !ok || !overMap(loop.X, info) {
				return true
			}
			line := fset.Position(loop.Pos()).Line
			m := mapLoop{loop, info}
			if !promised[line] && !m.orderFree(loop.Body.List) && !sortsAfter(d, loop.End()) {
				out = append(out, s.at(loop)+" ranges over a map: use slices.Sorted(maps.Keys(m)), "+
					`or say "// sorted below" or "// order does not matter: why"`)
			}
			return true
		})
	}
	return out
}

// promisedLines returns the lines that are covered by a promise.
func promisedLines(s source) map[int]bool {
	out := map[int]bool{}
	for _, group := range s.ast.Comments {
		if promise.MatchString(group.Text()) {
			out[fset.Position(group.Pos()).Line] = true
			out[fset.Position(group.End()).Line+1] = true
		}
	}
	return out
}

// overMap reports whether a loop over x runs in map order: x is a map, or maps.Keys, maps.Values or maps.All of one.
func overMap(x ast.Expr, info *types.Info) bool {
	if call, ok := x.(*ast.CallExpr); ok {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		return ok && isIdent(sel.X, "maps") && slices.Contains([]string{"Keys", "Values", "All"}, sel.Sel.Name)
	}
	typ := info.TypeOf(x)
	if typ == nil {
		return false
	}
	_, ok := typ.Underlying().(*types.Map)
	return ok
}

// sortsAfter reports whether a declaration calls a sort function after pos.
func sortsAfter(d ast.Decl, pos token.Pos) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < pos {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			found = found || isIdent(sel.X, "sort") || isIdent(sel.X, "slices") && strings.HasPrefix(sel.Sel.Name, "Sort")
		}
		return true
	})
	return found
}

// mapLoop analyzes the body of a loop over a map.
type mapLoop struct {
	loop *ast.RangeStmt
	info *types.Info
}

// orderFree reports whether the effect of statements obviously does not depend on the order in which the loop runs.
func (m mapLoop) orderFree(list []ast.Stmt) bool {
	return !slices.ContainsFunc(list, func(s ast.Stmt) bool { return !m.free(s) })
}

func (m mapLoop) free(s ast.Stmt) bool {
	switch s := s.(type) {
	case nil, *ast.EmptyStmt, *ast.DeclStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE
	case *ast.IncDecStmt:
		return true
	case *ast.BlockStmt:
		return m.orderFree(s.List)
	case *ast.IfStmt:
		return m.free(s.Init) && m.orderFree(s.Body.List) && m.free(s.Else)
	case *ast.RangeStmt:
		return m.orderFree(s.Body.List)
	case *ast.ReturnStmt:
		return !slices.ContainsFunc(s.Results, func(e ast.Expr) bool { return !constant(e) })
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && isIdent(call.Fun, "delete")
	case *ast.AssignStmt:
		return m.freeAssign(s)
	}
	return false
}

// freeAssign accepts new variables, sums, constants, and assignments to elements of another map, unless they append to an element
// other than that of the loop's own key.
func (m mapLoop) freeAssign(s *ast.AssignStmt) bool {
	if s.Tok == token.DEFINE {
		return true
	}
	for i, left := range s.Lhs {
		right := s.Rhs[min(i, len(s.Rhs)-1)]
		index, isIndex := left.(*ast.IndexExpr)
		switch {
		case isIndex && overMap(index.X, m.info):
			if appends(right) && !m.ownKey(index.Index) {
				return false
			}
		case s.Tok != token.ASSIGN && m.numeric(left):
		case s.Tok == token.ASSIGN && constant(right):
		default:
			return false
		}
	}
	return true
}

func (m mapLoop) ownKey(e ast.Expr) bool {
	key, ok := m.loop.Key.(*ast.Ident)
	return ok && isIdent(e, key.Name)
}

func (m mapLoop) numeric(e ast.Expr) bool {
	typ := m.info.TypeOf(e)
	if typ == nil {
		return false
	}
	basic, ok := typ.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

func appends(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && isIdent(call.Fun, "append")
}

func constant(e ast.Expr) bool {
	_, literal := e.(*ast.BasicLit)
	return literal || isIdent(e, "true", "false", "nil")
}
