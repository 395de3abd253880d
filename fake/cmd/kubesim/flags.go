package main

import (
	"errors"
	"flag"
	"io"
	"regexp"
	"strings"
)

// newFlags returns the set of flags of a command, which prints nothing by itself.
func newFlags(command string) *flag.FlagSet {
	set := flag.NewFlagSet("kubesim "+command, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	return set
}

// parse parses the flags of a command. Its error is helpText for --help, and else a usageError.
func parse(set *flag.FlagSet, usage string, args []string) error {
	command := strings.TrimPrefix(set.Name(), "kubesim ")
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return helpText(usage)
	case err != nil:
		text := twoDashes.ReplaceAllString(err.Error(), "${1}--")
		return usagef("%s: %s; kubesim %s --help lists the flags", command, text, command)
	}
	return nil
}

// twoDashes finds the place in an error of package flag where a flag is named with one dash.
var twoDashes = regexp.MustCompile(`(^flag [a-z ]+: |for flag )-`)

// listFlag adds a flag with names that have commas between them; it may be repeated.
func listFlag(set *flag.FlagSet, name string, into *[]string) {
	set.Func(name, "", func(text string) error { *into = append(*into, strings.Split(text, ",")...); return nil })
}

// repeatedFlag adds a flag that may be repeated.
func repeatedFlag(set *flag.FlagSet, name string, into *[]string) {
	set.Func(name, "", func(text string) error { *into = append(*into, text); return nil })
}
