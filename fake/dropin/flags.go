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

// flagSet is a parsed command line: the values of each flag, in order.
type flagSet struct {
	values  map[string][]string
	order   []string // names in the order of their first use
	without []string // arguments that do not belong to a flag
	wrong   error    // the first error
}

// parse parses a command line like package pflag: --name=value and --name value, -v 3 and -v=3. isBool reports whether a flag needs
// no value, and whether it is known. An unknown flag takes the next argument as its value unless that begins with a dash.
func parse(args []string, isBool func(name string) (yes, known bool)) *flagSet {
	s := &flagSet{values: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		text, ok := strings.CutPrefix(args[i], "-")
		if !ok || text == "" {
			s.without = append(s.without, args[i])
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(text, "-"), "=")
		name = strings.ReplaceAll(name, "_", "-") // like component-base
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

// last returns the last value of a flag, or "" if it is not set.
func (s *flagSet) last(name string) string {
	if v := s.values[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// list returns the values of a repeatable flag whose values are comma-separated lists.
func (s *flagSet) list(name string) []string { return flags.List(s.values[name]) }

// enabled returns the value of a boolean flag, or fallback if the flag is not set.
func (s *flagSet) enabled(name string, fallback bool) bool {
	if !s.has(name) {
		return fallback
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

// check records an error for each unknown flag, each refused flag, and each value that does not have its flag's type.
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

// fill sets the fields of c for the flags on the command line.
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

// printed returns the flags that are set, with their values in the form of /flagz.
func (s *flagSet) printed() map[string]string {
	all := map[string]string{}
	for _, name := range s.order {
		if f := flags.Find(name); f != nil {
			all[name] = f.Print(s.values[name])
		}
	}
	return all
}

// fails records an error unless one has been recorded already.
func (s *flagSet) fails(err error) { s.wrong = cmp.Or(s.wrong, err) }

// file reads the file of a flag. It returns nil if the flag is not set. failure is kube-apiserver's error message for a file that
// cannot be read.
func (s *flagSet) file(flag, failure string) []byte {
	if s.last(flag) == "" {
		return nil
	}
	return s.read(s.last(flag), failure)
}

// read reads a file. failure is the message of the error that it records if that fails.
func (s *flagSet) read(name, failure string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		s.fails(fmt.Errorf("%s: %w", failure, err))
	}
	return data
}

// isBool reports whether a flag of kube-apiserver needs no value, and whether the flag exists. It is an argument of parse.
func isBool(name string) (yes, known bool) {
	if name == "help" || name == "h" {
		return true, true
	}
	f := flags.Find(name)
	return f != nil && f.Kind == "", f != nil
}

// writeHelp writes the output of --help.
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

const helpHead = `kube-apiserver ` + release + ` simulated by kubesim, for envtest and other programs that start kube-apiserver with an etcd.

Usage:
  kube-apiserver [flags]

Each flag of kube-apiserver is
  honoured  it has the same effect as in kube-apiserver
  mapped    it has a similar effect
  ignored   it has no effect; ignored flags on the command line are listed on stderr
  refused   it is an error, because a server without its effect could allow or hide something unexpectedly
`
