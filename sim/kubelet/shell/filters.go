package shell

import (
	"regexp"
	"strconv"
	"strings"
)

// input returns the input of a filter: the contents of the named files or, without names, the output of the previous command in the
// pipe. If a file does not exist, it prints an error of command and returns false.
func (p *process) input(command string, names []string) (text string, ok bool) {
	if len(names) == 0 {
		return p.in, true
	}
	for _, name := range names {
		t, ok := p.read(name)
		if !ok {
			p.complain(command + ": " + name + ": No such file or directory")
			return "", false
		}
		text += t
	}
	return text, true
}

// grep supports -q, -v, -i, -c, -x, -E and -F.
func grep(p *process, args []string) int {
	names, has := operands(args)
	if len(names) == 0 {
		return 2
	}
	text, ok := p.input("grep", names[1:])
	if !ok {
		return 2
	}
	expression := pattern(names[0], has)
	var b strings.Builder
	found := 0
	for line := range strings.Lines(text) {
		if expression.MatchString(strings.TrimSuffix(line, "\n")) != has("v") {
			found++
			b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	switch {
	case has("c"):
		p.print(number(found) + "\n")
	case !has("q"):
		p.print(b.String())
	}
	if found == 0 {
		return 1
	}
	return 0
}

// pattern compiles a pattern of grep. If Go does not support the pattern, it stands for itself.
func pattern(text string, has func(flag string) bool) *regexp.Regexp {
	expression := text
	if !has("E") { // in a basic expression, the special characters are those with a backslash
		var b strings.Builder
		for i := 0; i < len(text); i++ {
			switch {
			case text[i] == '\\' && i+1 < len(text) && strings.IndexByte("+?{}()|", text[i+1]) >= 0:
				i++
			case strings.IndexByte("+?{}()|", text[i]) >= 0:
				b.WriteByte('\\')
			case text[i] == '\\' && i+1 < len(text):
				b.WriteByte(text[i])
				i++
			}
			b.WriteByte(text[i])
		}
		expression = b.String()
	}
	options := func(s string) string {
		if has("x") {
			s = "^(?:" + s + ")$"
		}
		if has("i") {
			s = "(?i)" + s
		}
		return s
	}
	if x, err := regexp.Compile(options(expression)); err == nil && !has("F") {
		return x
	}
	return regexp.MustCompile(options(regexp.QuoteMeta(text)))
}

// wc counts lines (-l), words (-w) or bytes (-c). Without flags it prints all three.
func wc(p *process, args []string) int {
	names, has := operands(args)
	text, ok := p.input("wc", names)
	if !ok {
		return 1
	}
	var all []string
	for _, x := range []struct {
		flag string
		n    int
	}{{"l", strings.Count(text, "\n")}, {"w", len(strings.Fields(text))}, {"c", len(text)}} {
		if has(x.flag) || !has("l") && !has("w") && !has("c") {
			all = append(all, number(x.n))
		}
	}
	p.print(strings.Join(append(all, names...), " ") + "\n")
	return 0
}

func tee(p *process, args []string) (code int) {
	names, has := operands(args)
	for _, name := range names {
		text := p.in
		if old, ok := p.read(name); ok && has("a") {
			text = old + text
		}
		if !p.write(name, text) {
			p.complain("tee: " + name + ": Read-only file system")
			code = 1
		}
	}
	p.print(p.in)
	return code
}

func head(p *process, args []string) int { return some(p, "head", args) }
func tail(p *process, args []string) int { return some(p, "tail", args) }

// some implements the commands head and tail. It prints the first or last lines of its input, ten by default or the number given by
// -n. With -f it never ends.
func some(p *process, command string, args []string) int {
	n, names := 10, []string(nil)
	for i := 0; i < len(args); i++ {
		switch x := args[i]; {
		case x == "-f" || x == "-F":
			p.waits, p.stopped = true, true
			return 0
		case x == "-n" && i+1 < len(args):
			i++
			n, _ = strconv.Atoi(args[i])
		case len(x) > 1 && x[0] == '-':
			n, _ = strconv.Atoi(strings.TrimPrefix(x[1:], "n"))
		default:
			names = append(names, x)
		}
	}
	text, ok := p.input(command, names)
	if !ok {
		return 1
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	n = min(max(n, 0), len(lines))
	if command == "head" {
		lines = lines[:n]
	} else {
		lines = lines[len(lines)-n:]
	}
	if text = strings.Join(lines, ""); text != "" {
		p.print(strings.TrimSuffix(text, "\n") + "\n")
	}
	return 0
}

// expr evaluates sums, products and comparisons from left to right. Its exit code is 1 if the result is 0 or empty.
func expr(p *process, args []string) int {
	if len(args) == 0 {
		p.complain("expr: syntax error")
		return 2
	}
	result := args[0]
	for len(args) >= 3 {
		a, errA := strconv.Atoi(result)
		b, errB := strconv.Atoi(args[2])
		op := args[1]
		switch {
		case strings.Contains("+-*/%", op) && len(op) == 1:
			if errA != nil || errB != nil {
				p.complain("expr: non-numeric argument")
				return 2
			}
			if b == 0 && (op == "/" || op == "%") {
				p.complain("expr: division by zero")
				return 2
			}
			result = number(apply(a, op[0], b))
		default:
			yes := 0
			if holds(p, []string{result, map[string]string{"<": "-lt", "<=": "-le", ">": "-gt", ">=": "-ge"}[op], args[2]}) ||
				holds(p, []string{result, op, args[2]}) {
				yes = 1
			}
			result = number(yes)
		}
		args = append([]string{result}, args[3:]...)
	}
	p.print(result + "\n")
	if result == "0" || result == "" {
		return 1
	}
	return 0
}
