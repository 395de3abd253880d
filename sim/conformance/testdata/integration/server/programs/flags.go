package programs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// Flags are the flags of a kube-apiserver in their order.
type Flags []Flag

// Flag is one flag with its value.
type Flag struct{ Name, Value string }

// Has reports whether a flag is given.
func (f Flags) Has(name string) bool {
	return slices.ContainsFunc(f, func(g Flag) bool { return g.Name == name })
}

// Last returns the last value of a flag, "" if it is not given.
func (f Flags) Last(name string) string {
	for _, g := range slices.Backward(f) {
		if g.Name == name {
			return g.Value
		}
	}
	return ""
}

// Default adds a flag unless it is given.
func (f *Flags) Default(name, value string) {
	if !f.Has(name) {
		*f = append(*f, Flag{name, value})
	}
}

// Set gives a flag a value that replaces those it has.
func (f *Flags) Set(name, value string) {
	f.Remove(name)
	*f = append(*f, Flag{name, value})
}

// Remove removes flags.
func (f *Flags) Remove(names ...string) {
	*f = slices.DeleteFunc(slices.Clone(*f), func(g Flag) bool { return slices.Contains(names, g.Name) })
}

func (f Flags) args() (args []string) {
	for _, g := range f {
		args = append(args, "--"+g.Name+"="+g.Value)
	}
	return args
}

// Of returns the flags that give a kube-apiserver the options of a test. It leaves out options with their default values.
func Of(o *options.ServerRunOptions) (flags Flags) {
	defaults := map[string]string{}
	for _, set := range options.NewServerRunOptions().Flags().FlagSets {
		set.VisitAll(func(f *pflag.Flag) { defaults[f.Name] = f.Value.String() })
	}
	sets := o.Flags()
	for _, name := range sets.Order {
		sets.FlagSets[name].VisitAll(func(f *pflag.Flag) {
			if f.Value.String() == defaults[f.Name] || slices.Contains(ofGates, f.Name) {
				return
			}
			for _, value := range values(f) {
				flags = append(flags, Flag{f.Name, value})
			}
		})
	}
	return flags
}

// ofGates are the flags that GateFlags gives.
var ofGates = []string{"feature-gates", "emulated-version", "min-compatibility-version"}

// values returns with which values a flag has to be given, one after the other, to have its value.
func values(f *pflag.Flag) []string {
	if s, ok := f.Value.(pflag.SliceValue); ok {
		all := s.GetSlice()
		if len(all) == 0 {
			return []string{""}
		}
		return all
	}
	text := f.Value.String()
	switch f.Value.Type() {
	case "stringArray", "strings", "stringSlice", "int32Slice":
		return []string{strings.Trim(text, "[]")}
	case "mapStringString", "mapStringBool", "stringToString":
		return []string{strings.Trim(text, "[]")}
	}
	return []string{text}
}

// Parse returns the flags in args as a set of flags understands them, and gives the set their values.
func Parse(set *pflag.FlagSet, args []string) (flags Flags, err error) {
	err = set.ParseAll(args, func(f *pflag.Flag, value string) error {
		flags = append(flags, Flag{f.Name, value})
		if err := set.Set(f.Name, value); err != nil {
			return fmt.Errorf("--%s=%s: %w", f.Name, value, err)
		}
		return nil
	})
	return flags, err
}
