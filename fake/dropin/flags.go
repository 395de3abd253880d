package dropin

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fake/flags"
	"github.com/kubesim/kubesim/sim/config"
)

// flagSet is a command line: the values of each flag in their order.
type flagSet struct {
	values  map[string][]string
	order   []string // names, as they came first
	without []string // arguments that belong to no flag
	wrong   error    // the first value that cannot be read
}

// parse reads a command line as package pflag does: --name=value and --name value, -v 3 and -v=3. isBool reports which flags need no value.
// Unknown flags take the next argument if it looks like a value.
func parse(args []string, isBool func(name string) (yes, known bool)) *flagSet {
	s := &flagSet{values: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		text, ok := strings.CutPrefix(args[i], "-")
		if !ok || text == "" {
			s.without = append(s.without, args[i])
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(text, "-"), "=")
		name = strings.ReplaceAll(name, "_", "-") // as component-base does
		if given {
			s.add(name, value)
			continue
		}
		yes, known := isBool(name)
		next := i+1 < len(args) && (known || !strings.HasPrefix(args[i+1], "-"))
		if yes || !next {
			s.add(name, "true")
			continue
		}
		i++
		s.add(name, args[i])
	}
	return s
}

func (s *flagSet) add(name, value string) {
	if _, ok := s.values[name]; !ok {
		s.order = append(s.order, name)
	}
	s.values[name] = append(s.values[name], value)
}

func (s *flagSet) has(name string) bool { return len(s.values[name]) > 0 }

// last returns the last value of a flag, "" when it was not given.
func (s *flagSet) last(name string) string {
	if v := s.values[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// list returns the values of a flag that may be repeated and whose values are lists with commas.
func (s *flagSet) list(name string) []string { return flags.List(s.values[name]) }

// on returns the value of a flag that is true or false.
func (s *flagSet) on(name string, otherwise bool) bool {
	if !s.has(name) {
		return otherwise
	}
	on, err := strconv.ParseBool(s.last(name))
	if err != nil {
		s.invalid(name, fmt.Errorf("strconv.ParseBool: parsing %q: invalid syntax", s.last(name)))
	}
	return on
}

// invalid records pflag's error for a value.
func (s *flagSet) invalid(name string, err error) { s.invalidValue(name, s.last(name), err) }

func (s *flagSet) invalidValue(name, value string, err error) {
	s.fails(fmt.Errorf("invalid argument %q for \"--%s\" flag: %w", value, name, err))
}

// check records an error for each unknown flag, each refused flag, and each value that does not have the type of its flag.
func (s *flagSet) check() {
	for _, name := range s.order {
		f := flags.Find(name)
		switch {
		case name == "help" || name == "h" || name == "version":
		case f == nil:
			s.fails(fmt.Errorf("unknown flag: --%s", name))
		case f.Does == flags.Refused && s.last(name) != "" && s.last(name) != "false":
			s.fails(fmt.Errorf("kubesim does not support --%s: %s. Remove the flag", name, f.Words))
		default:
			for _, value := range s.values[name] {
				if err := f.Check(value); err != nil {
					s.invalidValue(name, value, err)
				}
			}
		}
	}
}

// fill sets the fields of the flags that are given.
func (s *flagSet) fill(c *config.Cluster) {
	for _, name := range s.order {
		f := flags.Find(name)
		if f == nil || !f.Sets() {
			continue
		}
		if err := f.Set(c, s.values[name]); err != nil && f.Failure != "" {
			s.fails(fmt.Errorf("%s: %w", f.Failure, err))
		} else if err != nil {
			s.invalid(name, err)
		}
	}
}

// printed returns the flags that are given, with their values as /flagz has them.
func (s *flagSet) printed() map[string]string {
	all := map[string]string{}
	for _, name := range s.order {
		if f := flags.Find(name); f != nil {
			all[name] = f.Print(s.values[name])
		}
	}
	return all
}

// fails records an error, unless an earlier one was recorded.
func (s *flagSet) fails(err error) { s.wrong = cmp.Or(s.wrong, err) }

// file reads the file that a flag names. It returns nil if the flag was not given. failure is kube-apiserver's error text for a file that
// cannot be read.
func (s *flagSet) file(flag, failure string) []byte {
	if s.last(flag) == "" {
		return nil
	}
	return s.read(s.last(flag), failure)
}

// read reads a file.
func (s *flagSet) read(name, failure string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		s.fails(fmt.Errorf("%s: %w", failure, err))
	}
	return data
}

// isBool reports, for parse, whether a flag of kube-apiserver needs no value.
func isBool(name string) (yes, known bool) {
	if name == "help" || name == "h" {
		return true, true
	}
	f := flags.Find(name)
	return f != nil && f.Kind == "", f != nil
}

// writeHelp writes what --help prints.
func writeHelp(w io.Writer) {
	fmt.Fprint(w, helpHead)
	section := ""
	for _, f := range flags.All() {
		if f.Section != section {
			section = f.Section
			fmt.Fprintf(w, "\n%s:\n\n", section)
		}
		text := f.Does
		if f.Words != "" {
			text += ": " + f.Words
		}
		fmt.Fprintf(w, "      --%-50s  %s\n", strings.TrimSpace(f.Name+" "+f.Kind), text)
	}
	fmt.Fprint(w, "\nGlobal flags:\n\n  -h, --help\n      --version\n")
}

const helpHead = `kube-apiserver ` + release + ` simulated by kubesim, for envtest and other programs that start one over an etcd.

Usage:
  kube-apiserver [flags]

Each flag of kube-apiserver is honoured (it does what it does there), mapped (it does something like that), ignored (it is named
on stderr when it is given) or refused (it is an error, because a server without it would allow or hide what it should not).
`
