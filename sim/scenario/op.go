package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/condition"
	"github.com/kubesim/kubesim/sim/spelling"
	"github.com/kubesim/kubesim/sim/words"
)

// Op is one operation. Its text form, a line, and its JSON form are equivalent:
//
//	create -f cm.yaml --as alice
//	{"line":"create -f cm.yaml --as alice","files":{"cm.yaml":"…"}}
type Op struct {
	Name  string      // the name of the command
	Fails bool        // the line begins with !: the request must fail
	May   bool        // the line begins with ?: the request may fail
	Async bool        // the line ends in &: the operation does not wait for the response
	Args  []string    // without flags
	Flags []FlagValue // in their order on the line
	Text  string      // the rest of the line, for commands whose rest is not split into words

	// Files are files that the operation adds. Later operations can use them, too.
	Files map[string]string
}

// FlagValue is one flag of an operation.
type FlagValue struct {
	Name  string // the long name
	Value string // empty if the flag takes no value
}

// Flag returns the value of a flag and whether the operation has the flag. If the flag is repeated, it returns the last
// value.
func (op *Op) Flag(name string) (value string, ok bool) {
	for _, f := range op.Flags {
		if f.Name == name {
			value, ok = f.Value, true
		}
	}
	return value, ok
}

// value returns the value of a flag, or "" if the operation does not have the flag.
func (op *Op) value(name string) string {
	v, _ := op.Flag(name)
	return v
}

func (op *Op) has(name string) bool {
	_, ok := op.Flag(name)
	return ok
}

// all returns the values of a repeatable flag.
func (op *Op) all(name string) (out []string) {
	for _, f := range op.Flags {
		if f.Name == name {
			out = append(out, f.Value)
		}
	}
	return out
}

// arg returns the argument at index n, or "" if there are fewer arguments.
func (op *Op) arg(n int) string {
	if n < len(op.Args) {
		return op.Args[n]
	}
	return ""
}

// Parse parses one line. Its error is a *SyntaxError.
func Parse(line string) (Op, error) {
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		return Op{}, wrong(i+1, "an operation is one line; pass each line to Parse separately")
	}
	if bare, mark := unmarked(line); mark != 0 {
		if text := textCommand(bare); text != nil && text.Group == Prompt {
			op, err := text.parseText(bare)
			op.Fails, op.May = mark == '!', mark == '?'
			return op, condition.Shift(err, len(line)-len(bare))
		}
	}
	words, err := split(line)
	if text := textCommand(line); text != nil {
		return text.parseText(line)
	}
	if err != nil {
		return Op{}, err
	}
	return parseWords(line, words)
}

// unmarked removes the leading ! or ? from a line and returns that mark, or 0 if the line has none.
func unmarked(line string) (bare string, mark byte) {
	bare = strings.TrimLeft(line, " \t")
	if bare == "" || bare[0] != '!' && bare[0] != '?' {
		return line, 0
	}
	return strings.TrimLeft(bare[1:], " \t"), bare[0]
}

// textCommand returns the command of a line if the rest of that line is not split into words, or nil.
func textCommand(line string) *Command {
	first, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	if c := FindCommand(strings.TrimRight(first, "\t")); c != nil && c.text {
		return c
	}
	return nil
}

// parseText parses the line of a text command.
func (c *Command) parseText(line string) (Op, error) {
	at := strings.Index(line, c.Name) + len(c.Name)
	op := Op{Name: c.Name, Text: uncomment(line[at:])}
	at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
	if op.Text == "" && !strings.HasPrefix(c.Usage, "[") {
		return Op{}, wrong(at+1, "%s needs more: %s %s", c.Name, c.Name, c.Usage)
	}
	return op, c.examine(&op, at)
}

func parseWords(line string, words []word) (Op, error) {
	var op Op
	if len(words) > 0 && !words[0].quoted && words[0].text != "" && strings.Contains("!?", words[0].text[:1]) {
		op.Fails, op.May = words[0].text[0] == '!', words[0].text[0] == '?'
		if words[0].text = words[0].text[1:]; words[0].text == "" {
			words = words[1:]
		} else {
			words[0].column++
		}
	}
	if n := len(words) - 1; n >= 0 && words[n].text == "&" && !words[n].quoted {
		op.Async, words = true, words[:n]
	}
	if len(words) == 0 {
		return Op{}, wrong(len(line)+1, "there is no command; one of %s", strings.Join(commandNames(), ", "))
	}
	first := words[0]
	c := FindCommand(first.text)
	switch {
	case c == nil:
		return Op{}, wrong(first.column, "there is no command %q%s", first.text, meantCommand(first.text))
	case c.text:
		return Op{}, wrong(first.column, "%s takes neither ! nor ? before it, nor quotes around it", c.Name)
	case (op.Fails || op.May || op.Async) && c.Group != Requests:
		return Op{}, wrong(first.column, "!, ? and & are for requests, and %s is not a request", c.Name)
	}
	op.Name = c.Name
	if err := op.parseRest(c, words[1:]); err != nil {
		return Op{}, err
	}
	end := len(strings.TrimRight(line, " \t")) + 1
	if n := len(op.Args); n < c.needs || n > len(c.Args) && !c.more {
		if n >= c.needs {
			end = words[len(words)-1].column
		}
		return Op{}, wrong(end, "%s takes %s", c.Name, strings.TrimSpace(c.Name+" "+c.Usage))
	}
	return op, c.examine(&op, end-1)
}

// meantCommand returns the end of the error about an unknown command: a similar command, the command for an HTTP method, or some of the
// commands.
func meantCommand(name string) string {
	names := commandNames()
	best := spelling.Nearest(name, names)
	if len(name) < 5 && spelling.Distance(name, best) > 1 && !sameLetters(name, best) { // helm is not hold, and ls is not list
		best = ""
	}
	switch {
	case name != "" && strings.Contains(" GET HEAD POST PUT PATCH DELETE OPTIONS ", " "+name+" "):
		return "; did you mean request " + name + "?"
	case best != "":
		return "; did you mean " + best + "?"
	}
	return "; there are kubectl, curl, " + strings.Join(names[:4], ", ") + ", …"
}

// sameLetters reports whether two names differ only in the order of their letters.
func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return string(x) == string(y)
}

// unknown returns the error for a name that does not exist. names are the existing names. If there are none, the error ends with
// first, which explains how to create one.
func unknown(noun, name string, names []string, first string) error {
	if len(names) == 0 {
		return fmt.Errorf("there is no %s %q, nor any other%s", noun, name, first)
	}
	return fmt.Errorf("there is no %s %q%s", noun, name, spelling.Meant(name, names))
}

// parseRest parses the words after a command's name as arguments and flags. It returns an error for flags that the command does not
// have, and for a flag that occurs twice unless it is repeatable.
func (op *Op) parseRest(c *Command, words []word) error {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.quoted && w.text != "" && w.text[0] != '-' || !strings.HasPrefix(w.text, "-") || w.text == "-" || isNumber(w.text) {
			op.Args = append(op.Args, w.text)
			continue
		}
		name, value, given := strings.Cut(w.text, "=")
		f := flagOf(name)
		if f == nil || !slices.Contains(c.Flags, f.Name) {
			return wrong(w.column, "%s has no flag %s%s", c.Name, name, meantFlag(strings.TrimLeft(name, "-"), c.Flags))
		}
		if !f.repeat && op.has(f.Name) {
			return wrong(w.column, "%s is given twice; remove one", name)
		}
		switch {
		case f.Value == "" && given:
			return wrong(w.column, "%s takes no value; write %s alone", name, name)
		case f.Value != "" && !given && i+1 == len(words):
			return wrong(w.column, "%s needs a value: %s %s", name, name, f.Value)
		case f.Value != "" && !given:
			i++
			value = words[i].text
		}
		if f.Values != nil && !slices.Contains(f.Values, value) {
			return wrong(w.column, "%s cannot be %q; it is %s", name, value, strings.Join(f.Values, ", "))
		}
		op.Flags = append(op.Flags, FlagValue{f.Name, value})
	}
	return nil
}

// isNumber reports whether a word that begins with - is a negative number and not a flag.
func isNumber(text string) bool { return len(text) > 1 && text[1] >= '0' && text[1] <= '9' }

// flagOf returns the flag that a word such as -n or --namespace names, or nil.
func flagOf(text string) *Flag {
	name, long := strings.CutPrefix(text[1:], "-")
	if f := findFlag(name); f != nil && long == (f.Name == name) {
		return f
	}
	return nil
}

func meantFlag(text string, flags []string) string {
	if len(flags) == 0 {
		return "; it takes none"
	}
	if best := spelling.Nearest(text, flags); best != "" {
		return "; did you mean --" + best + "?"
	}
	return "; it takes --" + strings.Join(flags, " --")
}

// String returns the operation as one line that Parse accepts.
func (op Op) String() string {
	c := FindCommand(op.Name)
	words := []string{op.Name}
	if op.Fails {
		words[0] = "! " + op.Name
	}
	if op.May {
		words[0] = "? " + op.Name
	}
	if c != nil && c.text {
		return words[0] + " " + op.Text
	}
	for _, a := range op.Args {
		words = append(words, quoteWord(a, a == "&" || strings.HasPrefix(a, "-") && !isNumber(a)))
	}
	for _, v := range op.Flags {
		f := findFlag(v.Name)
		switch {
		case f == nil:
			continue
		case f.Short != "":
			words = append(words, "-"+f.Short)
		default:
			words = append(words, "--"+f.Name)
		}
		if f.Value != "" {
			words = append(words, quoteWord(v.Value, v.Value == "&"))
		}
	}
	if op.Async {
		words = append(words, "&")
	}
	return strings.Join(words, " ")
}

// MarshalJSON returns an object with the line and the files of the operation.
func (op Op) MarshalJSON() ([]byte, error) {
	b := object.AppendString([]byte(`{"line":`), op.String())
	if len(op.Files) > 0 {
		b = append(b, `,"files":{`...)
		for i, name := range slices.Sorted(maps.Keys(op.Files)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(object.AppendString(b, name), ':')
			b = object.AppendString(b, op.Files[name])
		}
		b = append(b, '}')
	}
	return append(b, '}'), nil
}

// UnmarshalJSON parses the form that MarshalJSON returns.
func (op *Op) UnmarshalJSON(data []byte) error {
	obj, err := object.Parse(data)
	if err != nil {
		return err
	}
	line, ok := obj["line"].(string)
	if !ok {
		return wrong(1, `an operation has a line: {"line":"get pods"}`)
	}
	made, err := Parse(line)
	if err != nil {
		return err
	}
	made.Files = object.StringMap(obj.Map("files"))
	*op = made
	return nil
}

// SyntaxError describes an error in a line, with its column and a suggested correction.
type SyntaxError = condition.SyntaxError

func wrong(column int, format string, args ...any) error {
	return condition.Wrong(column, format, args...)
}

// word is one word of a line.
type word struct {
	text   string
	column int  // the column of its first character, counted from 1
	quoted bool // it is partly in quotes, and so is not a flag, ! or &
}

// split splits a line into words and removes their quotes. It returns an error if a quote is not closed.
func split(line string) ([]word, error) {
	list, err := words.Line.Split(line)
	if err != nil {
		return nil, condition.Unclosed(err)
	}
	out := make([]word, len(list))
	for i, w := range list {
		out[i] = word{w.Text, w.From + 1, w.Quoted}
	}
	return out, nil
}

// quoteWord quotes a word if necessary, so that split returns it unchanged. If always is true, it quotes every word.
func quoteWord(text string, always bool) string { return words.Line.Quote(text, always) }

// uncomment returns a line without its comment, which begins with a # at the start of an unquoted word.
func uncomment(line string) string {
	list, err := words.Line.Split(line)
	switch {
	case err != nil:
		return strings.TrimSpace(line)
	case len(list) == 0:
		return ""
	}
	return strings.TrimSpace(line[:list[len(list)-1].To])
}
