package dropin

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// flagsText lists the flags of kube-apiserver, and what becomes of them here.
//
//go:embed flags.txt
var flagsText string

// known is one flag of kube-apiserver.
type known struct {
	section string
	name    string
	kind    string // "" for those that are true without a value
	does    string // honoured, mapped, ignored or refused
	words   string
}

// knownFlags are the flags of kube-apiserver in the order of its help.
var knownFlags = sync.OnceValue(func() []known {
	var all []known
	section := ""
	for line := range strings.Lines(flagsText) {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			section = strings.TrimSpace(text)
			continue
		}
		if words := strings.Fields(line); len(words) > 2 {
			f := known{section: section, name: words[0], kind: words[1], does: words[2], words: strings.Join(words[3:], " ")}
			if f.kind == "-" {
				f.kind = ""
			}
			all = append(all, f)
		}
	}
	return all
})

// find returns the flag with a name, nil for one that kube-apiserver does not have.
func find(name string) *known {
	all := knownFlags()
	if i := slices.IndexFunc(all, func(f known) bool { return f.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// flagSet is a command line: the values of each flag in their order.
type flagSet struct {
	values  map[string][]string
	order   []string // names, as they came first
	without []string // arguments that belong to no flag
	wrong   error    // the first value that cannot be read
}

// parse reads a command line as package pflag does: --name=value and --name value, -v 3 and -v=3; isBool says which flags
// need no value. Flags that nobody knows take the next argument if that looks like a value.
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
func (s *flagSet) list(names ...string) (all []string) {
	for _, name := range names {
		for _, v := range s.values[name] {
			for part := range strings.SplitSeq(v, ",") {
				if part = strings.TrimSpace(part); part != "" {
					all = append(all, part)
				}
			}
		}
	}
	return all
}

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

// duration returns the value of a flag that is a time, 0 if it was not given.
func (s *flagSet) duration(name string) time.Duration {
	if !s.has(name) {
		return 0
	}
	d, err := time.ParseDuration(s.last(name))
	if err != nil {
		s.invalid(name, err)
	}
	return d
}

// invalid notes what pflag says of a value.
func (s *flagSet) invalid(name string, err error) { s.invalidValue(name, s.last(name), err) }

func (s *flagSet) invalidValue(name, value string, err error) {
	s.fails(fmt.Errorf("invalid argument %q for \"--%s\" flag: %w", value, name, err))
}

// check records an error for each unknown flag, each refused flag, and each value that does not have the type of its flag.
func (s *flagSet) check() {
	for _, name := range s.order {
		f := find(name)
		switch {
		case name == "help" || name == "h" || name == "version":
		case f == nil:
			s.fails(fmt.Errorf("unknown flag: --%s", name))
		case f.does == "refused" && s.last(name) != "" && s.last(name) != "false":
			s.fails(fmt.Errorf("kubesim does not do what --%s asks for: %s. Leave the flag out", name, f.words))
		default:
			for _, value := range s.values[name] {
				if err := f.parse(value); err != nil {
					s.invalidValue(name, value, err)
				}
			}
		}
	}
}

// parse returns what pflag says of a value of the flag. Types that take any text say nothing.
func (f *known) parse(value string) (err error) {
	switch f.kind {
	case "":
		_, err = strconv.ParseBool(value)
	case "int":
		_, err = strconv.ParseInt(value, 0, 64)
	case "float", "float32":
		_, err = strconv.ParseFloat(value, 64)
	case "duration":
		_, err = time.ParseDuration(value)
	case "ip":
		if value = strings.TrimSpace(value); value != "" && net.ParseIP(value) == nil {
			err = fmt.Errorf("failed to parse IP: %q", value)
		}
	}
	return err
}

// printed returns the flags that are given, with their values as /flagz has them.
func (s *flagSet) printed() map[string]string {
	all := map[string]string{}
	for _, name := range s.order {
		if f := find(name); f != nil {
			all[name] = f.print(s.values[name])
		}
	}
	return all
}

// print returns the values of the flag as pflag prints them.
func (f *known) print(values []string) string {
	last := values[len(values)-1]
	switch f.kind {
	case "":
		on, _ := strconv.ParseBool(last)
		return strconv.FormatBool(on)
	case "int":
		n, _ := strconv.ParseInt(last, 0, 64)
		return strconv.FormatInt(n, 10)
	case "duration":
		d, _ := time.ParseDuration(last)
		return d.String()
	case "strings", "stringArray", "int32Slice", "namedCertKey":
		return "[" + strings.Join(values, ",") + "]"
	case "mapStringString", "colonSeparatedMultimapStringString", "stringToString":
		pairs := strings.Split(strings.Join(values, ","), ",")
		slices.Sort(pairs)
		return strings.Join(pairs, ",")
	}
	return last
}

// fails notes what is wrong, unless something before it was.
func (s *flagSet) fails(err error) { s.wrong = cmp.Or(s.wrong, err) }

// file reads a file that a flag names. nil: the flag was not given. failure is what kube-apiserver says that it cannot do without.
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

// isBool is parse's for the flags of kube-apiserver.
func isBool(name string) (yes, known bool) {
	if name == "help" || name == "h" {
		return true, true
	}
	f := find(name)
	return f != nil && f.kind == "", f != nil
}

// writeHelp writes what --help prints.
func writeHelp(w io.Writer) {
	fmt.Fprint(w, helpHead)
	section := ""
	for _, f := range knownFlags() {
		if f.section != section {
			section = f.section
			fmt.Fprintf(w, "\n%s:\n\n", section)
		}
		text := f.does
		if f.words != "" {
			text += ": " + f.words
		}
		fmt.Fprintf(w, "      --%-50s  %s\n", strings.TrimSpace(f.name+" "+f.kind), text)
	}
	fmt.Fprint(w, "\nGlobal flags:\n\n  -h, --help\n      --version\n")
}

const helpHead = `kube-apiserver ` + release + ` as kubesim simulates it, for envtest and whoever else starts one over an etcd.

Usage:
  kube-apiserver [flags]

Each flag of kube-apiserver is honoured (it does what it does there), mapped (it does something like that), ignored (it is named
on stderr when it is given) or refused (it is an error, because a server without it would allow or hide what it should not).
`
