// Package flags parses command lines as pflag does: flags and arguments may be in any order up to a double dash.
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

// Kind is the type of a flag's value.
type Kind byte

// These are the kinds. The value of each is its suffix in the argument of Of.
const (
	Text     Kind = 0   // any string
	Bool     Kind = '?' // true or false; true if no value is given
	Number   Kind = '#'
	Duration Kind = '@'
	Array    Kind = '*' // can be given several times
	List     Kind = ',' // can be given several times; each value is a comma-separated list
	Choice   Kind = '~' // takes a value only after =; without one, its value is Unchanged
)

// Unchanged is the value of a Choice flag that is given without a value.
const Unchanged = "Unchanged"

// Flag describes a command-line flag.
type Flag struct {
	Name, Short string
	Kind        Kind
	Required    bool
}

// Of parses a list of flags. For example, "output|o all? replicas#! from-literal*" describes -o or --output TEXT, --all,
// --replicas N, which is required, and --from-literal TEXT, which can be given several times.
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
	Args  []string // the arguments without flags and their values
	Dash  int      // the number of arguments before a double dash, or -1 without one

	values map[string][]string
	given  []string // names of flags, in the order of the command line
}

// NewSet returns a Set of the flags in spec (see Of), without values.
func NewSet(spec string) *Set { return &Set{Known: Of(spec), Dash: -1, values: map[string][]string{}} }

// Named returns the flag's name in pflag's errors.
func (f *Flag) Named() string {
	if f.Short != "" {
		return "-" + f.Short + ", --" + f.Name
	}
	return "--" + f.Name
}

// set checks and stores a value of a flag. The values of a List or an Array accumulate; otherwise the last one applies.
func (s *Set) set(f *Flag, value string) error {
	var err error
	if !slices.Contains(s.given, f.Name) {
		s.given = append(s.given, f.Name)
	}
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

// splitList splits text at commas outside quotes.
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

// Parse parses flags and arguments, which can be in any order up to a double dash (pflag). It returns pflag's error for
// an unknown flag or an invalid value.
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

// parseShort parses one-letter flags and returns the number of following arguments that are their values.
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

// Lookup returns the flag with the given name or one-letter shorthand, or nil if there is none.
func (s *Set) Lookup(name, short string) *Flag {
	for i := range s.Known {
		if f := &s.Known[i]; name != "" && f.Name == name || short != "" && f.Short == short {
			return f
		}
	}
	return nil
}

// Missing returns the quoted names of the required flags that are not given.
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

// Text returns the last value of a flag, or "" if it has none.
func (s *Set) Text(name string) string {
	if list := s.values[name]; len(list) > 0 {
		return list[len(list)-1]
	}
	return ""
}

// List returns all values of a flag.
func (s *Set) List(name string) []string { return s.values[name] }

// Visited returns the text of the given flags, in the order of the command line, as in --all=true --output=yaml.
func (s *Set) Visited() string {
	var out []string
	for _, name := range s.given {
		out = append(out, "--"+name+"="+strings.Join(s.values[name], ","))
	}
	return strings.Join(out, " ")
}

// Given reports whether a flag is given.
func (s *Set) Given(name string) bool { return len(s.values[name]) > 0 }

// On reports whether a Bool flag is true.
func (s *Set) On(name string) bool {
	on, _ := strconv.ParseBool(s.Text(name))
	return on
}

// Off reports whether a Bool flag is given as false.
func (s *Set) Off(name string) bool { return s.Given(name) && !s.On(name) }

// Number returns the value of a Number flag. If the flag has no value, it returns the given default.
func (s *Set) Number(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(s.Text(name), 0, 64); err == nil {
		return n
	}
	return otherwise
}

// Duration returns the value of a Duration flag. If the flag has no value, it returns the given default.
func (s *Set) Duration(name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(s.Text(name)); err == nil {
		return d
	}
	return otherwise
}

// Put sets the value of a flag. It replaces all given values.
func (s *Set) Put(name, value string) { s.values[name] = []string{value} }
