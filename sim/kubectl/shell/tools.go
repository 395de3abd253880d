package shell

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/linediff"
)

// tools maps the names of the commands that every Shell has to their implementations.
var tools = map[string]Command{"cat": cat, "echo": echo, "grep": grep, "head": head, "tail": tail, "wc": count, "sort": sorted,
	"ls": list, "base64": base64Text, "jq": noJQ, "cut": cut, "uniq": unique, "tr": translate, "awk": awk, "mkdir": mkdir, "printf": printf, "cp": copyFile,
	"true":  func(*Process) int { return 0 },
	"false": func(*Process) int { return 1 },
}

func noJQ(p *Process) int {
	fmt.Fprintln(p.Err, "there is no jq here: kubectl get … -o jsonpath='{.items[*].metadata.name}' picks fields, too")
	return 127
}

func list(p *Process) int {
	for _, name := range p.Names("") {
		p.Printf("%s\n", name)
	}
	return 0
}

// options separates one-letter flags from arguments. The letters in valued take a value.
func options(args []string, valued string) (flags map[byte][]string, rest []string) {
	flags = map[byte][]string{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' || a == "--" {
			rest = append(rest, a)
			continue
		}
		for n := 1; n < len(a); n++ {
			letter := a[n]
			if strings.IndexByte(valued, letter) < 0 {
				flags[letter] = append(flags[letter], a[n+1:])
				continue
			}
			value := a[n+1:]
			if value == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
			flags[letter] = append(flags[letter], value)
			break
		}
	}
	return flags, rest
}

// grep prints the lines that match a pattern.
func grep(p *Process) int {
	flags, rest := options(p.Argv, "eABCm")
	patterns := flags['e']
	if len(patterns) == 0 {
		if len(rest) == 0 {
			fmt.Fprintln(p.Err, "Usage: grep [OPTION]... PATTERNS [FILE]...")
			return 2
		}
		patterns, rest = rest[:1], rest[1:]
	}
	for i, pattern := range patterns {
		switch {
		case flags['F'] != nil:
			patterns[i] = regexp.QuoteMeta(pattern)
		case flags['E'] == nil:
			patterns[i] = basic(pattern)
		}
		if flags['w'] != nil {
			patterns[i] = `\b(?:` + patterns[i] + `)\b`
		}
	}
	expression := "(?:" + strings.Join(patterns, ")|(?:") + ")"
	if flags['i'] != nil {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		fmt.Fprintln(p.Err, "grep: Invalid regular expression")
		return 2
	}
	text, code := p.inputs("grep", rest)
	p.printMatches(re, text, flags, &code)
	return code
}

// printMatches prints the matching lines or their number. It sets *code to 1 if there are none.
func (p *Process) printMatches(re *regexp.Regexp, text string, flags map[byte][]string, code *int) {
	lines := linediff.Lines(text)
	before, after := around(flags, 'B'), around(flags, 'A')
	found, shown := 0, -1
	for i, line := range lines {
		if re.MatchString(line) == (flags['v'] != nil) {
			continue
		}
		found++
		if flags['c'] != nil || flags['q'] != nil {
			continue
		}
		if flags['o'] != nil {
			for _, m := range re.FindAllString(line, -1) {
				p.Printf("%s\n", m)
			}
			continue
		}
		if first := max(i-before, shown+1); before+after > 0 && shown >= 0 && first > shown+1 {
			p.Printf("--\n")
		}
		for n := max(i-before, shown+1); n < min(i+after+1, len(lines)); n++ {
			p.Printf("%s\n", lines[n])
			shown = n
		}
	}
	if flags['c'] != nil {
		p.Printf("%d\n", found)
	}
	if found == 0 {
		*code = max(*code, 1)
	}
}

func around(flags map[byte][]string, letter byte) int {
	for _, l := range []byte{letter, 'C'} {
		if v := flags[l]; len(v) > 0 {
			n, _ := strconv.Atoi(v[len(v)-1])
			return n
		}
	}
	return 0
}

// basic translates a basic regular expression into Go's syntax. In a basic expression, + ? | ( ) { } are operators only after a
// backslash.
func basic(p string) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(p); i++ {
		c := p[i]
		special := strings.IndexByte("+?|(){}", c) >= 0
		switch {
		case inside:
			inside = c != ']'
			b.WriteByte(c)
		case c == '\\' && i+1 < len(p) && strings.IndexByte("+?|(){}", p[i+1]) >= 0:
			i++
			b.WriteByte(p[i])
		case special:
			b.WriteString(`\` + string(c))
		default:
			inside = c == '['
			b.WriteByte(c)
		}
	}
	return b.String()
}

// lineCount parses the flag of head and tail that sets the number of lines: -n 5, -n5 or -5.
func lineCount(args []string) (n int, rest []string) {
	n = 10
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-n" && i+1 < len(args):
			i++
			n, _ = strconv.Atoi(args[i])
		case strings.HasPrefix(a, "-n"):
			n, _ = strconv.Atoi(a[2:])
		case strings.HasPrefix(a, "-") && len(a) > 1:
			n, _ = strconv.Atoi(a[1:])
		default:
			rest = append(rest, a)
		}
	}
	return n, rest
}

// byteCount returns the number of bytes that -c of head or tail sets: -c 5 or -c5.
func byteCount(args []string) (n int, rest []string, ok bool) {
	flags, rest := options(args, "nc")
	v := flags['c']
	if len(v) == 0 {
		return 0, nil, false
	}
	n, err := strconv.Atoi(v[len(v)-1])
	return max(n, 0), rest, err == nil
}

// head prints the first lines of its input, or the first bytes with -c.
func head(p *Process) int {
	if n, files, ok := byteCount(p.Argv); ok {
		text, code := p.inputs("head", files)
		p.Printf("%s", text[:min(n, len(text))])
		return code
	}
	n, files := lineCount(p.Argv)
	text, code := p.inputs("head", files)
	i := 0
	for line := range strings.Lines(text) {
		if i++; i > n && n >= 0 {
			break
		}
		p.Printf("%s", line)
	}
	return code
}

func tail(p *Process) int {
	if n, files, ok := byteCount(p.Argv); ok {
		text, code := p.inputs("tail", files)
		p.Printf("%s", text[max(len(text)-n, 0):])
		return code
	}
	n, files := lineCount(p.Argv)
	text, code := p.inputs("tail", files)
	lines := slices.Collect(strings.Lines(text))
	if len(p.Argv) > 0 && strings.HasPrefix(strings.TrimPrefix(p.Argv[0], "-n"), "+") || len(p.Argv) > 1 && strings.HasPrefix(p.Argv[1], "+") {
		lines = lines[min(max(n-1, 0), len(lines)):]
	} else {
		lines = lines[max(len(lines)-n, 0):]
	}
	p.Printf("%s", strings.Join(lines, ""))
	return code
}

// count prints the number of lines, words and bytes of its input (wc).
func count(p *Process) int {
	flags, files := options(p.Argv, "")
	text, code := p.inputs("wc", files)
	numbers := []struct {
		letter byte
		n      int
	}{{'l', strings.Count(text, "\n")}, {'w', len(strings.Fields(text))}, {'c', len(text)}}
	var out []string
	for _, x := range numbers {
		if len(flags) == 0 {
			out = append(out, fmt.Sprintf("%7d", x.n))
		} else if flags[x.letter] != nil {
			out = append(out, strconv.Itoa(x.n))
		}
	}
	line := strings.Join(out, " ")
	if len(files) == 1 {
		line += " " + files[0]
	}
	p.Printf("%s\n", line)
	return code
}

func sorted(p *Process) int {
	flags, files := options(p.Argv, "kt")
	text, code := p.inputs("sort", files)
	lines := linediff.Lines(text)
	field := 0
	if v := flags['k']; len(v) > 0 {
		first, _, _ := strings.Cut(v[0], ",")
		field, _ = strconv.Atoi(strings.TrimRight(first, "nr"))
	}
	key := func(line string) string {
		if words := strings.Fields(line); field > 0 && field <= len(words) {
			return strings.Join(words[field-1:], " ")
		} else if field > 0 {
			return ""
		}
		return line
	}
	slices.SortStableFunc(lines, func(a, b string) int {
		order := strings.Compare(key(a), key(b))
		if flags['n'] != nil {
			order = compareNumbers(key(a), key(b))
		}
		if flags['r'] != nil {
			return -order
		}
		return order
	})
	if flags['u'] != nil {
		lines = slices.Compact(lines)
	}
	for _, line := range lines {
		p.Printf("%s\n", line)
	}
	return code
}

// compareNumbers compares strings by the numbers that they begin with.
func compareNumbers(a, b string) int {
	of := func(text string) float64 {
		text = strings.TrimLeft(text, " \t")
		n := 0
		for n < len(text) && strings.IndexByte("0123456789.-", text[n]) >= 0 {
			n++
		}
		v, _ := strconv.ParseFloat(text[:n], 64)
		return v
	}
	switch x, y := of(a), of(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return strings.Compare(a, b)
}

func echo(p *Process) int {
	args, end := p.Argv, "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	p.Printf("%s%s", strings.Join(args, " "), end)
	return 0
}

// inputs returns the concatenated content of files, or stdin if no files are named.
func (p *Process) inputs(tool string, files []string) (text string, code int) {
	if len(files) == 0 {
		return string(p.Stdin), 0
	}
	for _, name := range files {
		data, err := p.ReadFile(name)
		if err != nil {
			fmt.Fprintf(p.Err, "%s: %s: %s\n", tool, name, fileError(err))
			code = 1
		}
		text += string(data)
	}
	return text, code
}

func cat(p *Process) int {
	text, code := p.inputs("cat", p.Argv)
	p.Printf("%s", text)
	return code
}

// base64Text encodes its input in base64, in lines of 76 characters or of the length given by -w. With -d it decodes.
func base64Text(p *Process) int {
	args := p.Argv
	for i, a := range args {
		switch {
		case a == "--decode":
			args[i] = "-d"
		case strings.HasPrefix(a, "--wrap="):
			args[i] = "-w" + strings.TrimPrefix(a, "--wrap=")
		case strings.HasPrefix(a, "--"):
			fmt.Fprintf(p.Err, "base64: unrecognized option '%s'\nTry 'base64 --help' for more information.\n", a)
			return 1
		}
	}
	flags, files := options(args, "w")
	text, code := p.inputs("base64", files)
	if flags['d'] != nil {
		plain, err := base64.StdEncoding.DecodeString(text)
		p.Printf("%s", plain)
		if err != nil {
			fmt.Fprintln(p.Err, "base64: invalid input")
			return 1
		}
		return code
	}
	width := 76
	if w := flags['w']; len(w) > 0 {
		n, err := strconv.Atoi(w[0])
		if err != nil || n < 0 {
			fmt.Fprintf(p.Err, "base64: invalid wrap size: ‘%s’\n", w[0])
			return 1
		}
		width = n
	}
	out := base64.StdEncoding.EncodeToString([]byte(text))
	for ; width > 0 && len(out) > width; out = out[width:] {
		p.Printf("%s\n", out[:width])
	}
	p.Printf("%s", out)
	if width > 0 && out != "" {
		p.Printf("\n")
	}
	return code
}
