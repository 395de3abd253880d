// Package flags says what becomes of the flags of kube-apiserver: one row for each, in flags.txt.
//
//	--anonymous-auth=false      row in flags.txt:  anonymous-auth - honoured =!NoAnonymous
//	        │                                             │
//	        ▼                                             ▼
//	command line of dropin or kubesim serve ─▶ Flag.Set ─▶ config.Cluster.NoAnonymous ─▶ the code that reads the field
//
// To add a flag: its row with the field, and the code that reads the field.
package flags

import (
	_ "embed"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/config"
)

//go:embed flags.txt
var table string

// The effects that a flag can have.
const (
	Honoured = "honoured" // it does what it does in kube-apiserver
	Mapped   = "mapped"   // it does something like that
	Ignored  = "ignored"  // it changes nothing
	Refused  = "refused"  // it is an error
)

// Flag is one flag of kube-apiserver.
type Flag struct {
	Section string // of kube-apiserver's help
	Name    string
	Kind    string // type of its value; empty for a flag that needs no value
	Does    string // Honoured, Mapped, Ignored or Refused
	Words   string // for --help
	Failure string // what kube-apiserver says if the file cannot be read that the flag names

	fields  []string // paths in config.Cluster
	negated bool     // the flag turns off what its field turns on
}

// All returns the flags of kube-apiserver in the order of its help.
var All = sync.OnceValue(func() []Flag {
	var all []Flag
	section := ""
	for line := range strings.Lines(table) {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			section = strings.TrimSpace(text)
			continue
		}
		if words := strings.Fields(line); len(words) > 2 {
			all = append(all, parse(section, words))
		}
	}
	return all
})

// parse reads a row.
func parse(section string, words []string) Flag {
	f := Flag{Section: section, Name: words[0], Kind: words[1], Does: words[2], Words: strings.Join(words[3:], " ")}
	if f.Kind == "-" {
		f.Kind = ""
	}
	field, ok := strings.CutPrefix(f.Words, "=")
	if !ok {
		return f
	}
	end := strings.IndexAny(field, " (")
	if end < 0 {
		end = len(field)
	}
	name, rest := field[:end], field[end:]
	if text, ok := strings.CutPrefix(rest, "("); ok {
		f.Failure, rest, _ = strings.Cut(text, ")")
	}
	f.Words = strings.TrimSpace(rest)
	name, f.negated = strings.CutPrefix(name, "!")
	f.fields = strings.Split(name, ",")
	return f
}

// Find returns the flag with a name, nil for one that kube-apiserver does not have.
func Find(name string) *Flag {
	all := All()
	if i := slices.IndexFunc(all, func(f Flag) bool { return f.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Sets reports whether Set sets a field.
func (f *Flag) Sets() bool { return len(f.fields) > 0 }

// Check returns pflag's error for a value of the flag. Types that accept any text have none.
func (f *Flag) Check(value string) (err error) {
	switch f.Kind {
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

// Print returns values of the flag, which Check has found good, as pflag prints them.
func (f *Flag) Print(values []string) string {
	last := values[len(values)-1]
	switch f.Kind {
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

// Set sets the fields of the flag to its values, which Check has found good, in the order of the command line. It returns the error of
// a file that cannot be read.
func (f *Flag) Set(c *config.Cluster, values []string) error {
	if len(values) == 0 {
		return nil
	}
	for _, path := range f.fields {
		field := reflect.ValueOf(c).Elem()
		for name := range strings.SplitSeq(path, ".") {
			field = field.FieldByName(name)
		}
		value, err := f.value(field.Interface(), values)
		if err != nil {
			return err
		}
		field.Set(reflect.ValueOf(value))
	}
	return nil
}

// value converts the values of the flag to the type of like, the field that it sets.
func (f *Flag) value(like any, values []string) (any, error) {
	last := values[len(values)-1]
	switch like.(type) {
	case string:
		return last, nil
	case []string:
		if f.Kind == "stringArray" {
			return values, nil
		}
		return List(values), nil
	case bool:
		on, err := strconv.ParseBool(last)
		return on != f.negated, err
	case time.Duration:
		if f.Kind != "int" {
			return time.ParseDuration(last)
		}
		seconds, err := strconv.ParseInt(last, 0, 64)
		if seconds == 0 {
			return -1 * time.Second, err // none, where 0 in the field is the default
		}
		return time.Duration(seconds) * time.Second, err
	case []byte:
		if last == "" {
			return []byte(nil), nil
		}
		return os.ReadFile(last)
	case [][]byte:
		var all [][]byte
		for _, name := range values {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			all = append(all, text)
		}
		return all, nil
	}
	panic(fmt.Sprintf("flags: --%s cannot set a field of type %T", f.Name, like))
}

// List returns the values of a flag that may be repeated and whose values are lists with commas.
func List(values []string) (all []string) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}
