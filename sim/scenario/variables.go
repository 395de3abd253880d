package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// expand replaces the variables in an operation with their values.
func (w *World) expand(op Op) (Op, error) {
	if !op.expands() {
		return op, nil
	}
	var err error
	replace := func(s string) string {
		if !strings.Contains(s, "$") || err != nil {
			return s
		}
		var out string
		out, err = w.substitute(s)
		return out
	}
	args := slices.Clone(op.Args)
	for i := range args {
		args[i] = replace(args[i])
	}
	flags := slices.Clone(op.Flags)
	for i := range flags {
		if name := flags[i].Name; name == "patch" || name == "data" { // $patch and similar words are part of the patch language
			flags[i].Value = w.fill(flags[i].Value)
		} else {
			flags[i].Value = replace(flags[i].Value)
		}
	}
	c := FindCommand(op.Name)
	switch {
	case op.Name == "once": // the operation of once is expanded when it runs
	case c != nil && c.Group == Prompt:
		op.Text = w.fill(op.Text)
	default:
		op.Text = replace(op.Text)
	}
	op.Args, op.Flags = args, flags
	if err == nil && c != nil && op.Name != "once" {
		err = c.examine(&op, 0)
	}
	return op, err
}

// expands reports whether the operation may contain a variable.
func (op *Op) expands() bool {
	dollar := func(text string) bool { return strings.Contains(text, "$") }
	return dollar(op.Text) || slices.ContainsFunc(op.Args, dollar) ||
		slices.ContainsFunc(op.Flags, func(f FlagValue) bool { return dollar(f.Value) })
}

// fill replaces $NAME and ${NAME} in s if a variable with that name exists, and leaves other names unchanged.
func (w *World) fill(s string) string {
	out, _ := w.substituted(s, true)
	return out
}

// substitute replaces $NAME and ${NAME} in s. It returns an error if a variable is not set.
func (w *World) substitute(s string) (string, error) { return w.substituted(s, false) }

func (w *World) substituted(s string, lenient bool) (string, error) {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			out.WriteString(s)
			return out.String(), nil
		}
		out.WriteString(s[:i])
		s = s[i+1:]
		name := variableName(s)
		if name == "" {
			out.WriteByte('$')
			continue
		}
		s = s[len(name):]
		value, ok := w.variable(strings.Trim(name, "{}"))
		switch {
		case !ok && lenient:
			value = "$" + name
		case !ok:
			name = strings.Trim(name, "{}")
			return "", fmt.Errorf("$%s is not set; set it before: let %s = .metadata.resourceVersion", name, name)
		}
		out.WriteString(value)
	}
}

// variable returns the value of a variable, and reports whether the variable is set. The variable revision is always set: it is the
// newest revision of the store.
func (w *World) variable(name string) (string, bool) {
	if name == "revision" {
		return fmt.Sprint(w.cluster.Revision()), true
	}
	value, ok := w.vars[name]
	return value, ok
}

// variableName returns the name at the beginning of s, including its braces.
func variableName(s string) string {
	if strings.HasPrefix(s, "{") {
		if end := strings.IndexByte(s, '}'); end > 0 && plainName(s[1:end]) {
			return s[:end+1]
		}
		return ""
	}
	n := 0
	for n < len(s) && plainName(s[:n+1]) {
		n++
	}
	return s[:n]
}

// plainName reports whether s consists of letters, digits and _, and does not begin with a digit.
func plainName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
