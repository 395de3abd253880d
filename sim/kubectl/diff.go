//go:build !js || !nocel

package kubectl

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/linediff"
	"github.com/kubesim/kubesim/sim/object"
)

// runDiff prints the changes that an apply would make, in the format of diff -u -N. The exit code is 1 if there are changes, and
// 2 after an error.
func runDiff(c *call) error {
	list, err := c.fileInfos("diff")
	if err != nil {
		report(c.Process, err)
		return exitCode(2)
	}
	c.Put("dry-run", "server")
	changed := false
	slices.SortStableFunc(list, func(a, b *client.Info) int { return cmp.Compare(fileName(a), fileName(b)) })
	for _, info := range list {
		live, merged, err := object.Object(nil), object.Object(nil), info.Err
		if err == nil {
			live, merged, err = c.wouldBe(info)
		}
		if err != nil {
			report(c.Process, err)
			return exitCode(2)
		}
		for _, obj := range []object.Object{live, merged} {
			if !c.On("show-managed-fields") {
				obj.Remove("metadata", "managedFields")
			}
		}
		hideSecrets(live, merged)
		changed = unified(c.Out, fileName(info), text(live), text(merged)) || changed
	}
	if changed {
		return exitCode(1)
	}
	return nil
}

// fileName returns the name of the file that kubectl diff writes for an object. diff compares the files in the order of their names.
func fileName(info *client.Info) string {
	m := info.Mapping
	if m == nil { // the object cannot be read
		return ""
	}
	return strings.ReplaceAll(m.GroupVersion(), "/", ".") + "." + m.Kind + "." + info.Namespace + "." + info.Name
}

// text returns the YAML of an object, or "" if obj is nil.
func text(obj object.Object) string {
	if obj == nil {
		return ""
	}
	return printer.YAML(json(obj))
}

// hideSecrets masks the data of Secrets with asterisks.
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

// wouldBe returns the live object, or nil if it does not exist, and the object that an apply would produce.
func (c *call) wouldBe(info *client.Info) (live, merged object.Object, err error) {
	live, err = c.Get(info.Path(), nil)
	switch {
	case client.IsNotFound(err) && !c.On("server-side"):
		created := &client.Info{Mapping: info.Mapping, Namespace: info.Namespace, Object: info.Object.Copy()}
		err = c.helper(clientSide).Create(created)
		return nil, created.Object, err
	case err != nil && !client.IsNotFound(err):
		return nil, nil, err
	case c.On("server-side"):
		merged, err = c.helper("kubectl").Apply(info, info.Object, c.On("force-conflicts"))
		return live, merged, err
	}
	p, contentType := patches.Between(patches.Original(live), patches.Unannotated(info.Object), live)
	merged = live.Copy()
	if len(p) > 0 {
		if merged, err = c.helper(clientSide).Patch(info, "", contentType, object.JSON(p)); err != nil {
			return nil, nil, err
		}
	}
	return live, merged, nil
}

// unified prints the unified diff of a and b with three lines of context, and reports whether they differ.
func unified(w io.Writer, name, a, b string) bool {
	if a == b {
		return false
	}
	fmt.Fprintf(w, "diff -u -N LIVE/%s MERGED/%s\n--- LIVE/%s\n+++ MERGED/%s\n", name, name, name, name)
	edits := linediff.Compare(a, b)
	const around = 3
	for from := 0; from < len(edits); {
		first := slices.IndexFunc(edits[from:], func(e linediff.Edit) bool { return e.Op != ' ' })
		if first < 0 {
			break
		}
		first += from
		last := first
		for i := first; i < len(edits) && i <= last+2*around+1; i++ {
			if edits[i].Op != ' ' {
				last = i
			}
		}
		start, end := max(first-around, from), min(last+around+1, len(edits))
		hunk(w, edits, start, end)
		from = end
	}
	return true
}

// hunk prints one hunk of a unified diff: its header and its lines.
func hunk(w io.Writer, edits []linediff.Edit, start, end int) {
	counts := func(list []linediff.Edit, but byte) (n int) {
		for _, e := range list {
			if e.Op != but {
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
	fmt.Fprintf(w, "@@ %s %s @@\n", place("-", '+'), place("+", '-'))
	for _, e := range edits[start:end] {
		fmt.Fprintf(w, "%c%s\n", e.Op, e.Text)
	}
}
