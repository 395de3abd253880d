package kubectl

import (
	"slices"
	"strings"
)

// Item is something that could stand where the cursor is.
type Item struct {
	Text   string
	Detail string
}

// Source knows what there is, for completion; nothing is asked over the wire for it.
type Source interface {
	Resources() []Item
	Objects(resource, namespace string) []Item
	Files() []Item
}

// Complete returns what could stand at the end of a line of a shell, and where in it the word begins that it takes the place
// of: commands, words of kubectl and those below them, flags, resources, names of objects, files.
func Complete(line string, src Source) (from int, items []Item) {
	from = strings.LastIndexAny(line, " \t") + 1
	start := line[from:]
	before := strings.Fields(line[:from])
	for i := len(before) - 1; i >= 0; i-- { // the last command of the line
		if before[i] == "|" || before[i] == ";" || before[i] == "&&" || before[i] == "||" {
			before = before[i+1:]
			break
		}
	}
	last := ""
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	switch {
	case len(before) == 0:
		for _, name := range toolNames() {
			items = append(items, Item{name, ""})
		}
	case last == ">" || last == "<" || last == ">>" || before[0] != "kubectl" && before[0] != "k":
		items = src.Files()
	default:
		items = completeWord(before[1:], start, src)
	}
	items = slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return !strings.HasPrefix(i.Text, start) })
	return from, items
}

// CommonPrefix returns what all items begin with: as far as a shell completes by itself.
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

// completeWord returns what could follow some words of kubectl.
func completeWord(before []string, start string, src Source) (items []Item) {
	list := words
	var at *word
	rest := before
	for len(rest) > 0 {
		found := findWord(list, rest[0])
		if found == nil {
			break
		}
		at, list, rest = found, found.sub, rest[1:]
	}
	if at == nil && len(rest) > 0 {
		return nil
	}
	for i := range list {
		if len(rest) == 0 {
			items = append(items, Item{list[i].name, list[i].help})
		}
	}
	if at == nil {
		return items
	}
	c := &call{known: flagsOf(everywhere + " " + at.flags), flags: map[string][]string{}, dash: -1}
	if strings.HasPrefix(start, "-") {
		return c.completeFlag(start)
	}
	if len(rest) > 0 {
		if f := c.valued(rest[len(rest)-1]); f != nil {
			return values(f, src)
		}
	}
	_ = c.parseFlags(rest) // what cannot be read is no argument
	return append(items, c.completeArgument(start, src)...)
}

// valued returns the flag that a word is, if its value is the next word.
func (c *call) valued(text string) *flag {
	if !strings.HasPrefix(text, "-") || strings.Contains(text, "=") {
		return nil
	}
	name, long := strings.CutPrefix(text, "--")
	f := c.flagNamed(name, "")
	if !long {
		f = c.flagNamed("", text[1:])
	}
	if f == nil || f.kind == boolFlag || f.kind == choiceFlag {
		return nil
	}
	return f
}

func (c *call) completeFlag(start string) (items []Item) {
	for i := range c.known {
		f := &c.known[i]
		text := "--" + f.name
		if f.kind != boolFlag {
			text += "="
		}
		if start != "-" || i >= len(flagsOf(everywhere)) { // those of the command first, the others when asked for
			items = append(items, Item{text, ""})
		}
	}
	return items
}

// values returns what the value of a flag could be.
func values(f *flag, src Source) (items []Item) {
	switch f.name {
	case "namespace":
		return src.Objects("namespaces", "")
	case "filename", "from-file", "from-env-file", "patch-file":
		return src.Files()
	case "output":
		for _, format := range []string{"yaml", "json", "wide", "name", "jsonpath=", "custom-columns="} {
			items = append(items, Item{format, ""})
		}
	}
	return items
}

// completeArgument returns resources, names of objects, or TYPE/NAME.
func (c *call) completeArgument(start string, src Source) []Item {
	namespace := c.text("namespace")
	if namespace == "" {
		namespace = "default"
	}
	if resource, _, ok := strings.Cut(start, "/"); ok {
		items := slices.Clone(src.Objects(resource, namespace))
		for i := range items {
			items[i].Text = resource + "/" + items[i].Text
		}
		return items
	}
	if len(c.args) == 0 {
		return src.Resources()
	}
	return src.Objects(c.args[0], namespace)
}
