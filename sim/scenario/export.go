package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// Export returns a scenario that repeats the operations of a World. A failed request gets a ! before it and an expect
// line after it, so that the run passes. A file that changed during the session gets a separate name for each version
// of its content.
func (w *World) Export(story string) *File {
	f := &File{Story: story, Files: maps.Clone(w.options.Files)}
	if f.Files == nil {
		f.Files = map[string]string{}
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(story), "\n") {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	b.WriteString("\n")
	logged := func(name string) bool { return slices.ContainsFunc(w.log, func(op Op) bool { return op.Name == name }) }
	if w.options.Seed > 1 && !logged("seed") {
		fmt.Fprintf(&b, "seed %d\n", w.options.Seed)
	}
	if !logged("replicas") && !logged("replica") {
		for i, r := range w.options.Replicas {
			fmt.Fprintf(&b, "replica %d %s\n", i+1, optionsOf(r))
		}
	}
	if w.options.Whole && !logged("auth") {
		b.WriteString("auth cluster\n")
	}
	if len(w.options.Controllers) > 0 && !logged("controllers") {
		fmt.Fprintf(&b, "controllers %s\n", strings.Join(w.options.Controllers, " "))
	}
	if w.options.Nodes > 0 && !logged("nodes") {
		fmt.Fprintf(&b, "nodes %d\n", w.options.Nodes)
	}
	if w.options.Classes && !logged("classes") {
		b.WriteString("classes\n")
	}
	names := map[string]string{} // exported names of the current versions of files
	for i, op := range w.log {
		op = exportFiles(op, f.Files, names)
		var expected string
		if i < len(w.replies) {
			op, expected = w.replies[i].exported(op)
		}
		b.WriteString(op.String() + "\n" + expected)
	}
	f.script = b.String() + "\n"
	f.order = slices.Sorted(maps.Keys(f.Files))
	return f
}

// exportFiles adds the files of an operation to files, and returns the operation with the exported names in place of the original
// ones.
func exportFiles(op Op, files, names map[string]string) Op {
	for _, name := range slices.Sorted(maps.Keys(op.Files)) {
		content, as := op.Files[name], name
		for n := 2; ; n++ {
			if there, taken := files[as]; !taken || there == content {
				break
			}
			stem, end, _ := strings.Cut(name, ".")
			as = strings.TrimRight(fmt.Sprintf("%s-%d.%s", stem, n, end), ".")
		}
		files[as], names[name] = content, as
	}
	op.Flags = slices.Clone(op.Flags)
	for i, flag := range op.Flags {
		if as := names[flag.Value]; flag.Name == "filename" && as != "" {
			op.Flags[i].Value = as
		}
	}
	return op
}

// exported returns the operation, with a ! if its request failed, and the expect line for that failure.
func (o opAnswer) exported(op Op) (Op, string) {
	x := o.last
	if x == nil || x.Answered == 0 || x.Code < 400 || op.Fails || op.May || op.Async {
		return op, ""
	}
	if o.requests > 1 { // the requests before the last one succeeded
		op.May = true
	} else {
		op.Fails = true
	}
	expected := fmt.Sprintf("expect status %d", x.Code)
	if condition.IsReason(x.Reason) {
		expected += " " + x.Reason
	}
	return op, expected + "\n"
}
