package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/kubectl/shell"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/spelling"
)

// parse finds the command of a command line and parses its flags.
func (s *Session) parse(p *shell.Process) (*call, error) {
	c := &call{Set: flags.NewSet(everywhere), Process: p, session: s, config: s.Config, edit: s.Edit, path: "kubectl"}
	args, before := pickFirst(c.Set, p.Argv)
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		c.verb = &verb{run: help}
		if len(args) > 0 {
			c.Args = args[1:]
		}
		return c, nil
	}
	c.verb, args = findPath(args, &c.path)
	if c.verb == nil {
		return nil, unknownVerb(args[0])
	}
	c.Known = append(c.Known, flags.Of(c.verb.flags)...)
	if err := c.Parse(append(before, args...)); err != nil {
		return nil, &usageError{err.Error(), "See '" + c.path + " --help' for usage."}
	}
	c.Builder = c.builder(s)
	if c.verb.run == nil && len(c.Args) > 0 {
		return nil, c.usage("unknown command %q", strings.Join(c.Args, " "))
	}
	return c, nil
}

// do runs the command. It returns an error if a required flag is not given.
func (c *call) do() error {
	if c.On("help") {
		return help(c)
	}
	if missing := c.Missing(); missing != "" {
		return fmt.Errorf("required flag(s) %s not set", missing)
	}
	if c.verb.run == nil { // the command requires a subcommand
		if err := help(c); err != nil || c.verb.name == "certificate" { // the only such command that succeeds
			return err
		}
		return exitCode(1)
	}
	if c.On("record") {
		c.Complain("Flag --record has been deprecated, --record will be removed in the future")
	}
	if c.Given("cpu-percent") {
		c.Complain("Flag --cpu-percent has been deprecated, Use --cpu with percentage or resource quantity format " +
			"(e.g., '70%%' for utilization or '500m' for milliCPU).")
	}
	return c.verb.run(c)
}

// changeCause is the annotation that kubectl rollout history prints.
const changeCause = "kubernetes.io/change-cause"

// record adds the annotation that --record requests: the command (genericclioptions.ChangeCauseRecorder).
func (c *call) record(obj object.Object) {
	if c.On("record") {
		obj.Set(strings.Join([]string{c.path, strings.Join(c.Args, " "), c.Visited()}, " "), "metadata", "annotations", changeCause)
	}
}

// pickFirst separates the flags in front of the command, which parse moves behind it.
func pickFirst(known *flags.Set, args []string) (rest, before []string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-h" && args[0] != "--help" {
		name, _, given := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		f := known.Lookup(name, "")
		if f == nil {
			f = known.Lookup("", name[:min(1, len(name))])
			given = given || len(name) > 1
		}
		n := 1
		if f != nil && f.Kind != flags.Bool && !given && len(args) > 1 {
			n = 2
		}
		before, args = append(before, args[:n]...), args[n:]
	}
	return args, before
}

// findVerb returns the verb with a name or alias, or nil if there is none.
func findVerb(list []verb, name string) *verb {
	for i := range list {
		if list[i].name == name || slices.Contains(strings.Fields(list[i].aliases), name) {
			return &list[i]
		}
	}
	return nil
}

// findPath returns the verb that words begin with, such as rollout status, and the remaining words. It returns a nil verb if
// there is none. It appends the verb's names to path.
func findPath(words []string, path *string) (found *verb, rest []string) {
	list := verbs
	for len(words) > 0 {
		v := findVerb(list, words[0])
		if v == nil {
			break
		}
		*path += " " + v.name
		found, list, words = v, v.sub, words[1:]
	}
	return found, words
}

// unknownVerb returns the error for an unknown command, with suggestions of similar names (cobra's SuggestionsFor).
func unknownVerb(name string) error {
	text := "unknown command \"" + name + "\" for \"kubectl\""
	var near []string
	for i := range verbs {
		if spelling.Distance(strings.ToLower(name), verbs[i].name) <= 2 || strings.HasPrefix(verbs[i].name, strings.ToLower(name)) {
			near = append(near, verbs[i].name)
		}
	}
	if len(near) > 0 {
		text += "\n\nDid you mean this?\n\t" + strings.Join(near, "\n\t")
	}
	return errors.New(text)
}

// help lists the commands, or prints the help and the flags of the named command.
func help(c *call) error {
	var found *verb
	list := verbs
	for _, name := range c.Args {
		v := findVerb(list, name)
		if v == nil {
			if found == nil && c.verb.name == "" {
				c.Printf("Unknown help topic [`%s`]\n", name)
			}
			break
		}
		found, list = v, v.sub
	}
	if found == nil && c.verb.name != "" {
		found, list = c.verb, c.verb.sub
	}
	if found == nil {
		c.Printf("kubectl controls the Kubernetes cluster manager, here a simulated one.\n\nCommands:\n")
	} else {
		c.Printf("%s\n", found.help)
	}
	rows := [][]string{}
	for i := range list {
		rows = append(rows, []string{"  " + list[i].name, list[i].help})
	}
	printer.Table(c.Out, rows)
	if found != nil && found.flags != "" {
		c.Printf("\nFlags:\n")
		for _, f := range flags.Of(found.flags) {
			c.Printf("  %s\n", f.Named())
		}
	}
	return nil
}
