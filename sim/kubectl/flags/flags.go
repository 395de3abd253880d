// Package flags reads command lines as pflag does: flags and arguments in any order, up to a double dash.
//
//	"output|o all? replicas#!" ─ Of ─▶ []Flag ─▶ Set ─ Parse ─▶ Args, and the values of flags
package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of a flag's value.
type Kind byte

// The kinds, by their letters in the text that Of parses.
const (
	Text     Kind = 0   // any text
	Bool     Kind = '?' // true or false, true without a value
	Number   Kind = '#'
	Duration Kind = '@'
	Array    Kind = '*' // may be given several times
	List     Kind = ',' // may be given several times, and each value is a list with commas
	Choice   Kind = '~' // has a value only after =; without one its value is Unchanged
)

// Unchanged is the value of a flag of kind Choice that is given without a value.
const Unchanged = "Unchanged"

// Flag is one flag.
type Flag struct {
	Name, Short string
	Kind        Kind
	Required    bool
}

// Of parses a list of flags: output|o all? replicas#! from-literal* is -o/--output TEXT, --all, --replicas N, which is required, and
// --from-literal TEXT, which may be given several times.
func Of(spec string) []Flag {
	var out []Flag
	for _, word := range strings.Fields(spec) {
		f := Flag{Required: strings.HasSuffix(word, "!")}
		word = strings.TrimSuffix(word, "!")
		if last := Kind(word[len(word)-1]); strings.IndexByte("?#@*,~", byte(last)) >= 0 {
			f.Kind, word = last, word[:len(word)-1]
		}
		f.Name, f.Short, _ = strings.Cut(word, "|")
		out = append(out, f)
	}
	return out
}

// Set holds the flags of a command and their values in a command line.
type Set struct {
	Known []Flag
	Args  []string // the arguments that are neither flags nor their values
	Dash  int      // number of arguments before a double dash, -1 without one

	values map[string][]string
}

// NewSet returns a Set of flags that have no values.
func NewSet(spec string) *Set { return &Set{Known: Of(spec), Dash: -1, values: map[string][]string{}} }

// Named returns how pflag names the flag in an error.
func (f *Flag) Named() string {
	if f.Short != "" {
		return "-" + f.Short + ", --" + f.Name
	}
	return "--" + f.Name
}

// set checks a value and keeps it.
func (s *Set) set(f *Flag, value string) error {
	var err error
	switch f.Kind {
	case Bool:
		_, err = strconv.ParseBool(value)
	case Number:
		_, err = strconv.ParseInt(value, 0, 64)
	case Duration:
		if _, err = time.ParseDuration(value); err != nil {
			if n, e := strconv.Atoi(value); e == nil && f.Name == "request-timeout" {
				value, err = strconv.Itoa(n)+"s", nil
			}
		}
	case List:
		s.values[f.Name] = append(s.values[f.Name], splitList(value)...)
		return nil
	case Array:
		s.values[f.Name] = append(s.values[f.Name], value)
		return nil
	}
	if err != nil {
		return fmt.Errorf("invalid argument %q for %q flag: %w", value, f.Named(), err)
	}
	s.values[f.Name] = []string{value}
	return nil
}

// splitList splits at commas that are not in quotes.
func splitList(text string) []string {
	if !strings.Contains(text, `"`) {
		return strings.Split(text, ",")
	}
	var out []string
	quoted, from := false, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && !quoted:
			out = append(out, strings.Trim(text[from:i], `"`))
			from = i + 1
		case text[i] == '"':
			quoted = !quoted
		}
	}
	return out
}

// Parse parses flags and arguments, which may be in any order up to a double dash (pflag).
func (s *Set) Parse(args []string) error {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			s.Dash = len(s.Args)
			s.Args = append(s.Args, args[i+1:]...)
			return nil
		case strings.HasPrefix(a, "--"):
			name, value, given := strings.Cut(a[2:], "=")
			f := s.Lookup(name, "")
			switch {
			case f == nil:
				return fmt.Errorf("unknown flag: --%s", name)
			case given:
			case f.Kind == Bool:
				value = "true"
			case f.Kind == Choice:
				value = Unchanged
			case i+1 == len(args):
				return fmt.Errorf("flag needs an argument: --%s", name)
			default:
				i++
				value = args[i]
			}
			if err := s.set(f, value); err != nil {
				return err
			}
		case strings.HasPrefix(a, "-") && len(a) > 1:
			used, err := s.parseShort(a[1:], args[i+1:])
			if err != nil {
				return err
			}
			i += used
		default:
			s.Args = append(s.Args, a)
		}
	}
	return nil
}

// parseShort parses flags of one letter and returns the number of following words that are their values.
func (s *Set) parseShort(text string, next []string) (used int, err error) {
	for n := 0; n < len(text); n++ {
		f := s.Lookup("", text[n:n+1])
		if f == nil {
			return 0, fmt.Errorf("unknown shorthand flag: %q in -%s", text[n], text)
		}
		rest := text[n+1:]
		switch {
		case f.Kind == Bool && strings.HasPrefix(rest, "="):
			return 0, s.set(f, rest[1:])
		case f.Kind == Bool:
			if err := s.set(f, "true"); err != nil {
				return 0, err
			}
			continue
		case rest != "":
			return 0, s.set(f, strings.TrimPrefix(rest, "="))
		case len(next) == 0:
			return 0, fmt.Errorf("flag needs an argument: %q in -%s", text[n], text)
		}
		return 1, s.set(f, next[0])
	}
	return 0, nil
}

// Lookup returns the flag with a name or a letter, nil if the command has no such flag.
func (s *Set) Lookup(name, short string) *Flag {
	for i := range s.Known {
		if f := &s.Known[i]; name != "" && f.Name == name || short != "" && f.Short == short {
			return f
		}
	}
	return nil
}

// Missing returns the required flags that the command line lacks, quoted.
func (s *Set) Missing() string {
	var out []string
	for _, f := range s.Known {
		if _, ok := s.values[f.Name]; f.Required && !ok {
			out = append(out, strconv.Quote(f.Name))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// Text returns the value of a flag, the last one if it has several, "" if it has none.
func (s *Set) Text(name string) string {
	if list := s.values[name]; len(list) > 0 {
		return list[len(list)-1]
	}
	return ""
}

// List returns the values of a flag.
func (s *Set) List(name string) []string { return s.values[name] }

// Given reports whether the command line has a flag.
func (s *Set) Given(name string) bool { return len(s.values[name]) > 0 }

// On reports whether a flag of kind Bool is true.
func (s *Set) On(name string) bool {
	on, _ := strconv.ParseBool(s.Text(name))
	return on
}

// Off reports whether a flag of kind Bool is given as false.
func (s *Set) Off(name string) bool { return s.Given(name) && !s.On(name) }

// Number returns the value of a flag of kind Number, or otherwise if it has none.
func (s *Set) Number(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(s.Text(name), 0, 64); err == nil {
		return n
	}
	return otherwise
}

// Duration returns the value of a flag of kind Duration, or otherwise if it has none.
func (s *Set) Duration(name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(s.Text(name)); err == nil {
		return d
	}
	return otherwise
}

// Put gives a flag a value, whatever the command line gives it.
func (s *Set) Put(name, value string) { s.values[name] = []string{value} }
