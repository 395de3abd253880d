package kubectl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/words"
)

// Item is a completion of a word.
type Item struct {
	Text   string
	Detail string
}

// Source provides names for completion. It sends no requests.
type Source interface {
	Resources() []Item
	Objects(resource, namespace string) []Item
	Files() []Item
}

// Complete returns the completions of the last word of a line, and the position of that word. It completes commands, kubectl's
// verbs, flags, resources, object names and file names.
func Complete(line string, src Source) (from int, items []Item) {
	from = strings.LastIndexAny(line, " \t") + 1
	start := line[from:]
	before, err := words.Shell.Split(line[:from])
	if err != nil {
		return from, nil
	}
	last := -1
	for i, w := range before { // only the last command of the line counts
		if w.Sign && (w.Text == "|" || w.Text == ";" || w.Text == "&&" || w.Text == "||") {
			last = i
		}
	}
	before = before[last+1:]
	switch {
	case len(before) == 0:
		for _, name := range tools {
			items = append(items, Item{name, ""})
		}
	case before[len(before)-1].Sign || before[0].Text != "kubectl" && before[0].Text != "k":
		items = src.Files()
	default:
		var args []string
		for _, w := range before[1:] {
			args = append(args, w.Text)
		}
		items = completeVerb(args, start, src)
	}
	items = slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return !strings.HasPrefix(i.Text, start) })
	return from, items
}

// CommonPrefix returns the longest common prefix of all items, which a shell can insert immediately.
func CommonPrefix(items []Item) string {
	if len(items) == 0 {
		return ""
	}
	common := items[0].Text
	for _, i := range items[1:] {
		for !strings.HasPrefix(i.Text, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}

// completeVerb returns the completions of start, the last word of a kubectl command line. before contains the preceding words.
func completeVerb(before []string, start string, src Source) (items []Item) {
	path := ""
	v, rest := findPath(before, &path)
	list := verbs
	if v != nil {
		list = v.sub
	} else if len(rest) > 0 {
		return nil
	}
	for i := range list {
		if len(rest) == 0 {
			items = append(items, Item{list[i].name, list[i].help})
		}
	}
	if v == nil {
		return items
	}
	f := flags.NewSet(everywhere + " " + v.flags)
	if strings.HasPrefix(start, "-") {
		return completeFlag(f, start)
	}
	if len(rest) > 0 {
		if f := valued(f, rest[len(rest)-1]); f != nil {
			return values(f, src)
		}
	}
	_ = f.Parse(rest) // completion works with the arguments before the first invalid one
	return append(items, completeArgument(f, start, src)...)
}

// valued returns the flag that text names if the flag's value is the next word. Otherwise it returns nil.
func valued(known *flags.Set, text string) *flags.Flag {
	if !strings.HasPrefix(text, "-") || strings.Contains(text, "=") {
		return nil
	}
	name, long := strings.CutPrefix(text, "--")
	f := known.Lookup(name, "")
	if !long {
		f = known.Lookup("", text[1:])
	}
	if f == nil || f.Kind == flags.Bool || f.Kind == flags.Choice {
		return nil
	}
	return f
}

// completeFlag returns the flags of a command. If start is a single dash, it omits the flags that all commands accept.
func completeFlag(known *flags.Set, start string) (items []Item) {
	for i := range known.Known {
		f := &known.Known[i]
		text := "--" + f.Name
		if f.Kind != flags.Bool {
			text += "="
		}
		if start != "-" || i >= len(flags.Of(everywhere)) {
			items = append(items, Item{text, ""})
		}
	}
	return items
}

// values returns the possible values of a flag.
func values(f *flags.Flag, src Source) (items []Item) {
	switch f.Name {
	case "namespace":
		return src.Objects("namespaces", "")
	case "filename", "from-file", "from-env-file", "patch-file":
		return src.Files()
	case "output":
		for _, format := range []string{"yaml", "kyaml", "json", "wide", "name", "jsonpath=", "custom-columns=", "go-template="} {
			items = append(items, Item{format, ""})
		}
	}
	return items
}

// completeArgument returns the completions of an argument: resources, object names, or TYPE/NAME.
func completeArgument(f *flags.Set, start string, src Source) []Item {
	namespace := cmp.Or(f.Text("namespace"), "default")
	if resource, _, ok := strings.Cut(start, "/"); ok {
		items := slices.Clone(src.Objects(resource, namespace))
		for i := range items {
			items[i].Text = resource + "/" + items[i].Text
		}
		return items
	}
	if len(f.Args) == 0 {
		return src.Resources()
	}
	return src.Objects(f.Args[0], namespace)
}
