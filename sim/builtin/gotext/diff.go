package gotext

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// match reports that size lines are equal, beginning at a[a] and b[b].
type match struct{ a, b, size int }

// edit replaces the lines a[a1:a2] with b[b1:b2]. If equal is true, both are the same.
type edit struct {
	equal          bool
	a1, a2, b1, b2 int
}

const diffContext = 3

// unifiedDiff compares two texts with the algorithm of Python's difflib (Ratcliff and Obershelp: find the longest common
// block, and recurse into the lines before and after it), which also produces the diffs in the server's messages. The result
// has no header.
func unifiedDiff(a, b []string) string {
	var out strings.Builder
	for _, group := range groupEdits(edits(a, b)) {
		first, last := group[0], group[len(group)-1]
		out.WriteString("@@ -" + diffRange(first.a1, last.a2) + " +" + diffRange(first.b1, last.b2) + " @@\n")
		for _, e := range group {
			if e.equal {
				writeLines(&out, " ", a[e.a1:e.a2])
				continue
			}
			writeLines(&out, "-", a[e.a1:e.a2])
			writeLines(&out, "+", b[e.b1:e.b2])
		}
	}
	return out.String()
}

func writeLines(out *strings.Builder, prefix string, lines []string) {
	for _, line := range lines {
		out.WriteString(prefix + line + "\n")
	}
}

// diffRange formats the lines [start, end) as in unified diffs: numbered from 1, followed by the number of lines unless that is 1.
func diffRange(start, end int) string {
	switch length := end - start; length {
	case 1:
		return strconv.Itoa(start + 1)
	case 0:
		return strconv.Itoa(start) + ",0"
	default:
		return strconv.Itoa(start+1) + "," + strconv.Itoa(length)
	}
}

// edits returns the edits that transform a into b.
func edits(a, b []string) []edit {
	d := differ{a: a, b: b, where: linesOf(b)}
	d.blocks(0, len(a), 0, len(b))
	d.found = append(d.found, match{len(a), len(b), 0})
	var out []edit
	i, j := 0, 0
	for _, m := range d.found {
		if i < m.a || j < m.b {
			out = append(out, edit{a1: i, a2: m.a, b1: j, b2: m.b})
		}
		i, j = m.a+m.size, m.b+m.size
		if m.size == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].equal { // merge adjacent blocks
			out[n-1].a2, out[n-1].b2 = i, j
			continue
		}
		out = append(out, edit{equal: true, a1: m.a, a2: i, b1: m.b, b2: j})
	}
	return out
}

// linesOf returns the indices of each distinct line of b. If b is long, it omits frequent lines, because they reveal little about
// the structure.
func linesOf(b []string) map[string][]int {
	where := map[string][]int{}
	for j, line := range b {
		where[line] = append(where[line], j)
	}
	if len(b) >= 200 {
		for line, at := range where { // order does not matter
			if len(at) > len(b)/100+1 {
				delete(where, line)
			}
		}
	}
	return where
}

type differ struct {
	a, b  []string
	where map[string][]int
	found []match
}

// blocks finds the common blocks of a[alo:ahi] and b[blo:bhi], in order.
func (d *differ) blocks(alo, ahi, blo, bhi int) {
	m := d.longest(alo, ahi, blo, bhi)
	if m.size == 0 {
		return
	}
	if alo < m.a && blo < m.b {
		d.blocks(alo, m.a, blo, m.b)
	}
	d.found = append(d.found, m)
	if m.a+m.size < ahi && m.b+m.size < bhi {
		d.blocks(m.a+m.size, ahi, m.b+m.size, bhi)
	}
}

// longest returns the longest common block. Among blocks of the same length it prefers the one that begins earliest in a, and then
// in b.
func (d *differ) longest(alo, ahi, blo, bhi int) match {
	best := match{alo, blo, 0}
	lengths := map[int]int{} // lengths of the blocks that end at b[j] and at the preceding line of a
	for i := alo; i < ahi; i++ {
		next := map[int]int{}
		for _, j := range d.where[d.a[i]] {
			if j < blo || j >= bhi {
				continue
			}
			k := lengths[j-1] + 1
			next[j] = k
			if k > best.size {
				best = match{i - k + 1, j - k + 1, k}
			}
		}
		lengths = next
	}
	for best.a > alo && best.b > blo && d.a[best.a-1] == d.b[best.b-1] {
		best = match{best.a - 1, best.b - 1, best.size + 1}
	}
	for best.a+best.size < ahi && best.b+best.size < bhi && d.a[best.a+best.size] == d.b[best.b+best.size] {
		best.size++
	}
	return best
}

// groupEdits splits the edits at long equal runs, and keeps a few lines of context around each change.
func groupEdits(all []edit) [][]edit {
	if e := &all[0]; e.equal {
		e.a1, e.b1 = max(e.a1, e.a2-diffContext), max(e.b1, e.b2-diffContext)
	}
	if e := &all[len(all)-1]; e.equal {
		e.a2, e.b2 = min(e.a2, e.a1+diffContext), min(e.b2, e.b1+diffContext)
	}
	var groups [][]edit
	var group []edit
	for _, e := range all {
		if e.equal && e.a2-e.a1 > 2*diffContext {
			group = append(group, edit{true, e.a1, e.a1 + diffContext, e.b1, e.b1 + diffContext})
			groups = append(groups, group)
			group = nil
			e.a1, e.b1 = e.a2-diffContext, e.b2-diffContext
		}
		group = append(group, e)
	}
	if len(group) > 1 || len(group) == 1 && !group[0].equal {
		groups = append(groups, group)
	}
	return groups
}

// Same reports whether two structs are equal in the server's memory. Empty and missing lists and maps are equal, and so are
// zero and missing values of non-pointer fields. An empty struct differs from a nil pointer. Quantities are compared by amount,
// so 1Gi equals 1073741824. Same is called for every update of a pod.
func Same(t Type, a, b object.Object) bool {
	if t == PodSpec {
		a, b = inMemory(a), inMemory(b)
	}
	for i := range goTypes()[t] {
		f := &goTypes()[t][i]
		switch {
		case f.elem == "ObjectMeta":
			if !bytes.Equal(appendMeta(nil, a.Map("metadata")), appendMeta(nil, b.Map("metadata"))) {
				return false
			}
		case f.name == "":
			if !Same(f.elem, a, b) {
				return false
			}
		case !f.same(a[f.json], b[f.json]):
			return false
		}
	}
	return true
}

// SameList reports whether two lists of structs are equal. It compares structs like Same.
func SameList(t Type, a, b any) bool {
	f := goField{kind: '.', elem: t, list: true}
	return f.same(a, b)
}

// SpecChanged returns a SpecChanged function for kinds whose spec is the struct t. Most updates do not change the spec.
func SpecChanged(t Type) func(obj, old object.Object) bool {
	return func(obj, old object.Object) bool {
		return !object.Equal(obj["spec"], old["spec"]) && !Same(t, obj.At("spec"), old.At("spec"))
	}
}

// same reports whether two values of a field are equal in the server's memory.
func (f *goField) same(a, b any) bool {
	switch {
	case f.list:
		a, _ := a.([]any)
		b, _ := b.([]any)
		return slices.EqualFunc(a, b, f.sameValue)
	case f.dict:
		a, _ := a.(map[string]any)
		b, _ := b.(map[string]any)
		return len(a) == len(b) && f.sameDict(a, b)
	case f.pointer && (a == nil || b == nil):
		return a == nil && b == nil
	}
	return f.sameValue(a, b)
}

// sameDict compares two maps with the same number of keys.
func (f *goField) sameDict(a, b map[string]any) bool {
	for key, x := range a {
		if y, ok := b[key]; !ok || !f.sameValue(x, y) {
			return false
		}
	}
	return true
}

// sameValue compares two values of a field, neither of which is a nil pointer. A missing value equals the zero value of its kind.
func (f *goField) sameValue(a, b any) bool {
	if f.kind != '.' {
		x, y := f.orZero(a), f.orZero(b)
		return object.Equal(x, y) || f.kind == 'q' && quantity.Of(x).Cmp(quantity.Of(y)) == 0
	}
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	if f.elem == "LabelSelector" {
		return bytes.Equal(LabelSelector(x), LabelSelector(y))
	}
	return Same(f.elem, x, y)
}
