// Package flags describes how the flags of kube-apiserver are handled, one per row in flags.txt.
//
//	--anonymous-auth=false      row in flags.txt:  anonymous-auth - honoured =!NoAnonymous
//	        │                                             │
//	        ▼                                             ▼
//	command line of dropin or kubesim serve ─▶ Flag.Set ─▶ config.Cluster.NoAnonymous ─▶ the code that reads the field
//
// To add a flag, add its row with the field, and the code that reads the field.
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

// The possible effects of a flag.
const (
	Honoured = "honoured" // same effect as in kube-apiserver
	Mapped   = "mapped"   // similar effect
	Ignored  = "ignored"  // accepted, but without effect
	Refused  = "refused"  // rejected with an error
)

// Flag is a flag of kube-apiserver.
type Flag struct {
	Section string // section in kube-apiserver's help
	Name    string
	Kind    string // type of its value; empty if it needs no value
	Does    string // Honoured, Mapped, Ignored or Refused
	Words   string // description in --help
	Failure string // kube-apiserver's error text if the flag's file cannot be read

	fields  []string // paths in config.Cluster
	negated bool     // the flag disables what its field enables
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

// parse parses a row of flags.txt.
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

// Find returns the flag with the given name, or nil if kube-apiserver does not have it.
func Find(name string) *Flag {
	all := All()
	if i := slices.IndexFunc(all, func(f Flag) bool { return f.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Sets reports whether the flag sets any field.
func (f *Flag) Sets() bool { return len(f.fields) > 0 }

// Check returns pflag's error for an invalid value of the flag. It returns nil for types that accept any string.
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

// Print returns the values of the flag, which must be valid, in pflag's format.
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

// Set sets the fields of the flag to its values, which must be valid and in the order of the command line. It returns an error if a
// file cannot be read.
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

// value parses the values of the flag. The result has the type of like, which is a value of the field that the flag sets.
func (f *Flag) value(like any, values []string) (any, error) {
	last := values[len(values)-1]
	switch like.(type) {
	case string:
		return last, nil
	case []string:
		if f.Kind == "stringArray" || f.Kind == "mapStringString" {
			return values, nil
		}
		return List(values), nil
	case bool:
		on, err := strconv.ParseBool(last)
		return on != f.negated, err
	case int:
		n, err := strconv.ParseInt(last, 0, strconv.IntSize)
		return int(n), err
	case time.Duration:
		if f.Kind != "int" {
			return time.ParseDuration(last)
		}
		seconds, err := strconv.ParseInt(last, 0, 64)
		if seconds == 0 {
			return -1 * time.Second, err // no timeout; 0 in the field would mean the default
		}
		return time.Duration(seconds) * time.Second, err
	case *time.Duration:
		d, err := time.ParseDuration(last)
		return &d, err
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

// List returns the values of a repeatable flag with comma-separated values.
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
