package shell

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/linediff"
)

// cut prints parts of each line: fields with -f and -d, or characters with -c or -b.
func cut(p *Process) int {
	flags, files := options(p.Argv, "dfcb")
	last := func(letter byte) string {
		if v := flags[letter]; len(v) > 0 {
			return v[len(v)-1]
		}
		return ""
	}
	list, delimiter := last('c')+last('b'), ""
	if f := last('f'); f != "" {
		list, delimiter = f, "\t"
		if d := last('d'); d != "" {
			delimiter = d
		}
	}
	if list == "" {
		fmt.Fprintln(p.Err, "cut: you must specify a list of bytes, characters, or fields\nTry 'cut --help' for more information.")
		return 1
	}
	text, code := p.inputs("cut", files)
	for _, line := range linediff.Lines(text) {
		parts := strings.Split(line, delimiter)
		if delimiter != "" && len(parts) == 1 {
			p.Printf("%s\n", line) // a line without a delimiter is printed as it is
			continue
		}
		var chosen []string
		for i, part := range parts {
			if inList(list, i+1) {
				chosen = append(chosen, part)
			}
		}
		p.Printf("%s\n", strings.Join(chosen, delimiter))
	}
	return code
}

// inList reports whether a list of ranges, such as 1,3-5,7-, contains n.
func inList(list string, n int) bool {
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			first = 1
		}
		last, err := strconv.Atoi(to)
		switch {
		case !isRange:
			last = first
		case err != nil:
			last = n
		}
		if first <= n && n <= last {
			return true
		}
	}
	return false
}

// unique prints lines that differ from the line before them (uniq), with -c after their number, with -d only repeated ones.
func unique(p *Process) int {
	flags, files := options(p.Argv, "")
	text, code := p.inputs("uniq", files)
	lines := linediff.Lines(text)
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		switch {
		case flags['d'] != nil && n == 1, flags['u'] != nil && n > 1:
		case flags['c'] != nil:
			p.Printf("%7d %s\n", n, lines[i])
		default:
			p.Printf("%s\n", lines[i])
		}
		i += n
	}
	return code
}

// translate replaces the characters of its first argument by those of the second (tr), or deletes them with -d. With -s it prints a
// repeated character once.
func translate(p *Process) int {
	flags, sets := options(p.Argv, "")
	if len(sets) == 0 || len(sets) == 1 && flags['d'] == nil && flags['s'] == nil {
		fmt.Fprintln(p.Err, "tr: missing operand\nTry 'tr --help' for more information.")
		return 1
	}
	from, to := charactersOf(sets[0]), []rune(nil)
	if len(sets) > 1 {
		to = charactersOf(sets[1])
	}
	var b strings.Builder
	before := rune(-1)
	for _, c := range string(p.Stdin) {
		at := strings.IndexRune(string(from), c)
		if at >= 0 && flags['d'] != nil {
			continue
		}
		if at >= 0 && len(to) > 0 {
			c = to[min(len([]rune(string(from)[:at])), len(to)-1)]
		}
		if at < 0 || flags['s'] == nil || c != before {
			b.WriteRune(c)
		}
		before = c
	}
	p.Printf("%s", b.String())
	return 0
}

// charactersOf returns the characters of a set of tr, such as a-z or \n.
func charactersOf(set string) (out []rune) {
	set = strings.NewReplacer(`\n`, "\n", `\t`, "\t", "[:upper:]", "A-Z", "[:lower:]", "a-z", "[:space:]", " \t\n", "[:digit:]", "0-9").Replace(set)
	runes := []rune(set)
	for i := 0; i < len(runes); i++ {
		if i+2 < len(runes) && runes[i+1] == '-' {
			for c := runes[i]; c <= runes[i+2]; c++ {
				out = append(out, c)
			}
			i += 2
			continue
		}
		out = append(out, runes[i])
	}
	return out
}

// printed matches the programs of awk that are simulated: an optional condition on the number of the line, and a print of fields.
var printed = regexp.MustCompile(`^\s*(?:NR\s*(>|==|!=)\s*(\d+))?\s*\{\s*print\s*([^{}]*?)\s*;?\s*\}\s*$`)

// awk prints fields of each line: awk '{print $1, $3}', with -F for another separator than spaces.
func awk(p *Process) int {
	flags, rest := options(p.Argv, "Fv")
	if len(rest) == 0 {
		fmt.Fprintln(p.Err, "usage: awk [-F fs] 'prog' [file ...]")
		return 2
	}
	m := printed.FindStringSubmatch(rest[0])
	if m == nil {
		fmt.Fprintln(p.Err, "awk: this program is not simulated: only {print $1, $2} with NR and -F is")
		return 2
	}
	text, code := p.inputs("awk", rest[1:])
	limit, _ := strconv.Atoi(m[2])
	for i, line := range linediff.Lines(text) {
		n := i + 1
		if m[1] == ">" && n <= limit || m[1] == "==" && n != limit || m[1] == "!=" && n == limit {
			continue
		}
		fields := strings.Fields(line)
		if v := flags['F']; len(v) > 0 {
			fields = strings.Split(line, v[len(v)-1])
		}
		p.Printf("%s\n", expand(m[3], line, fields))
	}
	return code
}

// operand matches a field or a text in a print of awk, with the comma or space before it.
var operand = regexp.MustCompile(`(,?)\s*(\$\w+|"[^"]*")`)

// expand returns the output of a print of awk.
func expand(program, line string, fields []string) string {
	if program == "" {
		return line
	}
	out := ""
	for i, m := range operand.FindAllStringSubmatch(program, -1) {
		if m[1] == "," && i > 0 {
			out += " "
		}
		switch name := m[2]; {
		case name[0] == '"':
			out += strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(name[1 : len(name)-1])
		case name == "$0":
			out += line
		case name == "$NF" && len(fields) > 0:
			out += fields[len(fields)-1]
		default:
			if n, _ := strconv.Atoi(name[1:]); n > 0 && n <= len(fields) {
				out += fields[n-1]
			}
		}
	}
	return out
}
