package fault

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Plan is a list of faults, which are decided in this order.
type Plan []Fault

// String returns one fault per line, in the format of Parse.
func (p Plan) String() string {
	var b strings.Builder
	for _, f := range p {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// String returns the fault as one line:
//
//	on VERB RESOURCE [KEY=VALUE …] do ACTION [ARGUMENT] [retry=SECONDS]
//
// A word that contains a space, a quote or a # is formatted as a Go string.
func (f Fault) String() string {
	t := f.trigger
	b := []string{"on", word(t.verb), word(t.resource)}
	text := func(key, value string) {
		if value != "" {
			b = append(b, key+"="+word(value))
		}
	}
	number := func(key string, n int) {
		if n != 0 {
			b = append(b, key+"="+strconv.Itoa(n))
		}
	}
	text("namespace", t.namespace)
	text("name", t.name)
	text("client", t.client)
	text("user", t.user)
	text("event", t.eventType)
	number("replica", t.replica)
	for _, c := range t.where {
		text("where", c)
	}
	for _, c := range t.became {
		text("became", c)
	}
	number("nth", t.nth)
	number("every", t.every)
	if t.probability != 1 {
		text("p", strconv.FormatFloat(t.probability, 'g', -1, 64))
	}
	number("times", t.times)
	if t.until != 0 {
		text("until", t.until.String())
	}
	text("at", string(t.at))
	return strings.Join(append(b, "do", f.action.String()), " ")
}

// String returns the action as in the text of a fault, where it follows the word do.
func (a Action) String() string {
	text := a.Kind.String()
	switch a.Kind.about().form {
	case withReason:
		text += " " + string(a.Reason)
		if a.RetryAfter != 0 {
			text += " retry=" + strconv.Itoa(a.RetryAfter)
		}
	case withWait:
		text += " " + a.Wait.String()
	case mayWait:
		if a.Wait != 0 {
			text += " " + a.Wait.String()
		}
	case withBytes:
		text += " " + strconv.Itoa(a.Bytes)
	case withStatus:
		text += " " + strconv.Itoa(a.Code) + " " + word(string(a.Reason)) + " " + word(a.Message)
	case withObject:
		text += " " + word(a.Object)
	}
	if t := a.Trouble(); t.Kind != nil {
		for i := range t.Resources {
			t.Resources[i] = word(t.Resources[i])
		}
		return t.String()
	}
	return text
}

// word quotes s if necessary, so that fields parses it as one word.
func word(s string) string {
	odd := func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' || r == '#' || r == utf8.RuneError
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

// Parse parses a plan with one fault per line. It ignores empty lines and comments after a #. Its errors contain the
// line number.
func Parse(text string) (Plan, error) {
	var p Plan
	for i, line := range strings.Split(text, "\n") {
		words, err := fields(line)
		if err == nil && len(words) == 0 {
			continue
		}
		var f Fault
		if err == nil {
			f, err = parseFault(words)
		}
		if err != nil {
			return nil, fmt.Errorf("fault: line %d: %w", i+1, err)
		}
		p = append(p, f)
	}
	return p, nil
}

// fields splits a line into words. A quote at the start of a word or after its first = begins a Go string. It returns
// an error if a quote is in another place or has no end.
func fields(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		if line == "" || line[0] == '#' {
			return words, nil
		}
		end := strings.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '#' })
		if end < 0 {
			return append(words, line), nil
		}
		w := line[:end]
		line = line[end:]
		if line[0] == '"' {
			if w != "" && strings.IndexByte(w, '=') != len(w)-1 {
				return nil, fmt.Errorf("%s: a quote must be at the beginning of a word, or after its first =", w)
			}
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("%s%s: the quote is not closed", w, line)
			}
			value, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			w, line = w+value, line[len(quoted):]
			if r, _ := utf8.DecodeRuneInString(line); line != "" && !unicode.IsSpace(r) && r != '#' {
				return nil, fmt.Errorf("%s: text behind a quote", line)
			}
		}
		words = append(words, w)
	}
}

func parseFault(words []string) (Fault, error) {
	if len(words) < 5 || words[0] != "on" {
		return Fault{}, errors.New("want: on VERB RESOURCE [KEY=VALUE …] do ACTION")
	}
	t := On(words[1], words[2])
	for i, w := range words[3:] {
		if w == "do" {
			a, err := parseAction(words[3+i+1:])
			f := t.Do(a)
			if err == nil {
				err = f.Check()
			}
			return f, err
		}
		key, value, _ := strings.Cut(w, "=")
		if err := t.set(key, value); err != nil {
			return Fault{}, err
		}
	}
	return Fault{}, errors.New("the action is missing: do ACTION")
}

// set sets one KEY=VALUE of a trigger. It returns an error if the key is unknown or the value is invalid.
func (t *Trigger) set(key, value string) (err error) {
	text := map[string]*string{"namespace": &t.namespace, "name": &t.name, "client": &t.client, "user": &t.user, "event": &t.eventType,
		"at": (*string)(&t.at)}[key]
	number := map[string]*int{"replica": &t.replica, "nth": &t.nth, "every": &t.every, "times": &t.times}[key]
	switch {
	case text != nil:
		*text = value
	case number != nil:
		*number, err = strconv.Atoi(value)
	case key == "where":
		*t = t.Where(value)
	case key == "became":
		*t = t.Became(value)
	case key == "p":
		t.probability, err = strconv.ParseFloat(value, 64)
	case key == "until":
		t.until, err = time.ParseDuration(value)
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	if err != nil {
		return fmt.Errorf("%s=%q: %w", key, value, err)
	}
	return nil
}

// parseAction parses the words that follow do: a kind and its arguments. It returns an error if the kind is unknown, or
// if an argument is missing or one too many.
func parseAction(words []string) (Action, error) {
	if len(words) == 0 {
		return Action{}, errors.New("the action is missing")
	}
	a := Action{Kind: kindNamed(words[0])}
	k := a.Kind.about()
	if k.name == "" {
		return a, fmt.Errorf("unknown action %q", words[0])
	}
	args := words[1:]
	switch alone := k.form == bare && k.trouble == nil; {
	case len(args) == 0 && (alone || k.form == mayWait):
		return a, nil
	case len(args) == 0:
		return a, fmt.Errorf("%s: the argument is missing", a.Kind)
	case alone:
		return a, fmt.Errorf("%s: unexpected %q", a.Kind, args[0])
	case k.trouble != nil:
		return a, a.treat(args)
	}
	rest, err := a.argument(k.form, args)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("unexpected %q", rest[0])
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", a.Kind, err)
	}
	return a, nil
}

// treat parses an action on a replica or a controller. Unlike a disturbance in general, the action accepts at most one
// resource.
func (a *Action) treat(args []string) error {
	t, err := a.Kind.about().trouble.Parse(args)
	if err == nil && len(t.Resources) > 1 {
		err = fmt.Errorf("unexpected %q", t.Resources[1])
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.Kind, err)
	}
	a.Replica, a.Controller, a.Wait = t.Replica, t.Controller, t.Duration
	if len(t.Resources) > 0 {
		a.Resource = t.Resources[0]
	}
	return nil
}

// argument parses the words after a kind and returns the remaining words.
func (a *Action) argument(f form, args []string) (rest []string, err error) {
	first, rest := args[0], args[1:]
	switch f {
	case withReason:
		a.Reason = Reason(first)
		if len(rest) > 0 {
			if seconds, ok := strings.CutPrefix(rest[0], "retry="); ok {
				a.RetryAfter, err = strconv.Atoi(seconds)
				rest = rest[1:]
			}
		}
	case withStatus:
		if len(args) < 3 {
			return nil, errors.New("want its code, its reason and its message")
		}
		a.Reason, a.Message, rest = Reason(args[1]), args[2], args[3:]
		a.Code, err = strconv.Atoi(first)
	case withObject:
		a.Object = first
	case withWait, mayWait:
		a.Wait, err = time.ParseDuration(first)
	case withBytes:
		a.Bytes, err = strconv.Atoi(first)
	}
	return rest, err
}
