package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// diffWord shows what apply would change, as diff -u -N does: the exit code is 1 if there is something, 2 or more if it
// cannot be said.
func (c *call) diffWord() error {
	list, err := c.fileTargets("diff")
	if err != nil {
		c.fail(err)
		return exitCode(2)
	}
	changed := false
	for _, t := range list {
		live, merged, err := c.wouldBe(t)
		if err != nil {
			c.fail(err)
			return exitCode(2)
		}
		for _, obj := range []object.Object{live, merged} {
			if !c.on("show-managed-fields") {
				obj.Remove("metadata", "managedFields")
			}
		}
		hideSecrets(live, merged)
		name := strings.ReplaceAll(t.m.gv(), "/", ".") + "." + t.m.kind + "." + t.namespace + "." + t.name
		changed = c.unified(name, text(live), text(merged)) || changed
	}
	if changed {
		return exitCode(1)
	}
	return nil
}

// text is an object as files have it, "" for none.
func text(obj object.Object) string {
	if obj == nil {
		return ""
	}
	return yaml(object.JSON(map[string]any(obj)))
}

// hideSecrets puts asterisks in the place of the data of Secrets.
func hideSecrets(live, merged object.Object) {
	if merged.Kind() != "Secret" || merged.APIVersion() != "v1" {
		return
	}
	old, now := live.Map("data"), merged.Map("data")
	for _, k := range object.SortedKeys(now) {
		before, was := old[k]
		switch {
		case was && object.Equal(before, now[k]):
			old[k], now[k] = "***", "***"
		case was:
			old[k], now[k] = "*** (before)", "*** (after)"
		default:
			now[k] = "***"
		}
	}
	for _, k := range object.SortedKeys(old) {
		if s, _ := old[k].(string); !strings.HasPrefix(s, "***") {
			old[k] = "***"
		}
	}
}

// wouldBe returns an object as it is, nil if it is not there, and as an apply would leave it.
func (c *call) wouldBe(t *target) (live, merged object.Object, err error) {
	c.flags["dry-run"] = []string{"server"}
	live, err = c.get(t.path(), nil)
	switch {
	case isNotFound(err) && !c.on("server-side"):
		created := &target{m: t.m, namespace: t.namespace, obj: remembered(t.obj)}
		if err = c.create(created, "kubectl-client-side-apply"); err == nil {
			created.obj.Remove("metadata", "annotations", lastApplied)
			if len(created.obj.Annotations()) == 0 {
				created.obj.Remove("metadata", "annotations")
			}
		}
		return nil, created.obj, err
	case err != nil && !isNotFound(err):
		return nil, nil, err
	case c.on("server-side"):
		merged, err = c.applyPatch(t, t.obj, "kubectl", c.on("force-conflicts"))
		return live, merged, err
	}
	p, contentType := between(original(live), remembered(t.obj), live)
	merged = live.Copy()
	if len(p) > 0 {
		if merged, err = c.write(wire.MethodPatch, t, t.path(), contentType, object.JSON(p), "kubectl-client-side-apply"); err != nil {
			return nil, nil, err
		}
	}
	for _, obj := range []object.Object{live, merged} {
		obj.Remove("metadata", "annotations", lastApplied)
	}
	return live, merged, nil
}

// unified prints how two texts differ, with three lines around each difference, and reports whether they do.
func (c *call) unified(name, a, b string) bool {
	if a == b {
		return false
	}
	before, after := splitLines(a), splitLines(b)
	c.printf("diff -u -N LIVE/%s MERGED/%s\n--- LIVE/%s\n+++ MERGED/%s\n", name, name, name, name)
	edits := compareLines(before, after)
	const around = 3
	for from := 0; from < len(edits); {
		first := slices.IndexFunc(edits[from:], func(e edited) bool { return e.sign != ' ' })
		if first < 0 {
			break
		}
		first += from
		last := first
		for i := first; i < len(edits) && i <= last+2*around; i++ {
			if edits[i].sign != ' ' {
				last = i
			}
		}
		start, end := max(first-around, from), min(last+around+1, len(edits))
		c.hunk(edits, start, end)
		from = end
	}
	return true
}

// hunk prints some lines, and where they are in both texts.
func (c *call) hunk(edits []edited, start, end int) {
	counts := func(list []edited, but byte) (n int) {
		for _, e := range list {
			if e.sign != but {
				n++
			}
		}
		return n
	}
	place := func(sign string, but byte) string {
		at, n := counts(edits[:start], but), counts(edits[start:end], but)
		if n > 0 {
			at++
		}
		if n == 1 {
			return fmt.Sprintf("%s%d", sign, at)
		}
		return fmt.Sprintf("%s%d,%d", sign, at, n)
	}
	c.printf("@@ %s %s @@\n", place("-", '+'), place("+", '-'))
	for _, e := range edits[start:end] {
		c.printf("%c%s\n", e.sign, e.text)
	}
}

// edited is a line that both texts have, or that one of them has.
type edited struct {
	sign byte // ' ', '-' or '+'
	text string
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// compareLines finds the longest lines that two texts have in common; what is gone comes before what is new.
func compareLines(a, b []string) (out []edited) {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, edited{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out = append(out, edited{'-', a[i]})
			i++
		default:
			out = append(out, edited{'+', b[j]})
			j++
		}
	}
	return out
}
