package kubectl

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/spelling"
)

// word is one command, such as get, or one below it, such as rollout status.
type word struct {
	name    string
	aliases string // separated by spaces
	flags   string // see flagsOf
	help    string // one sentence
	run     func(c *call) error
	sub     []word
}

// call is one command line on its way.
type call struct {
	*Session
	word  *word
	path  string // kubectl rollout status
	args  []string
	dash  int // how many arguments stand before a double dash, -1 without one
	known []flag
	flags map[string][]string
}

// words are the commands in the order of a help text. They are put together when the program starts because help lists
// them, and is one of them.
var words []word

// order is that of the real kubectl's help, by which it also lists what one may have meant.
var order = strings.Fields("create expose run set explain get edit delete rollout scale autoscale cluster-info top cordon uncordon drain taint " +
	"describe logs attach exec port-forward proxy cp auth debug events diff apply patch replace wait kustomize label annotate completion " +
	"api-resources api-versions config plugin version options")

func init() {
	all := slices.Concat(readWords, writeWords, createWords, deleteWords, moreWords)
	for _, name := range order {
		words = append(words, *findWord(all, name))
	}
}

// parse finds the command of a line and reads its flags.
func (s *Session) parse(args []string) (*call, error) {
	c := &call{Session: s, path: "kubectl", dash: -1, flags: map[string][]string{}}
	c.known = flagsOf(everywhere)
	args, before := pickFirst(args, c.known)
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		c.word = &word{run: (*call).help}
		if len(args) > 0 {
			c.args = args[1:]
		}
		return c, nil
	}
	list := words
	for len(args) > 0 {
		found := findWord(list, args[0])
		if found == nil {
			break
		}
		c.word, c.path = found, c.path+" "+found.name
		list, args = found.sub, args[1:]
	}
	if c.word == nil {
		return nil, unknownWord(args[0])
	}
	c.known = append(c.known, flagsOf(c.word.flags)...)
	if err := c.parseFlags(append(before, args...)); err != nil {
		return nil, &misuse{err.Error(), "See '" + c.path + " --help' for usage."}
	}
	if len(c.word.sub) > 0 && c.word.run == nil {
		if len(c.args) > 0 {
			return nil, c.usage("unknown command %q", strings.Join(c.args, " "))
		}
		parent := *c.word
		parent.run = (*call).subHelp
		c.word = &parent
	}
	return c, nil
}

// pickFirst moves flags that stand before the command behind it.
func pickFirst(args []string, known []flag) (rest, before []string) {
	c := &call{known: known}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-h" && args[0] != "--help" {
		name, _, given := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		f := c.flagNamed(name, "")
		if f == nil {
			f = c.flagNamed("", name[:min(1, len(name))])
			given = given || len(name) > 1
		}
		n := 1
		if f != nil && f.kind != boolFlag && !given && len(args) > 1 {
			n = 2
		}
		before, args = append(before, args[:n]...), args[n:]
	}
	return args, before
}

func findWord(list []word, name string) *word {
	for i := range list {
		if list[i].name == name || slices.Contains(strings.Fields(list[i].aliases), name) {
			return &list[i]
		}
	}
	return nil
}

// unknownWord is the error about a command that does not exist; it names those that are near (cobra's SuggestionsFor).
func unknownWord(name string) error {
	text := "unknown command \"" + name + "\" for \"kubectl\""
	var near []string
	for i := range words {
		if spelling.Distance(strings.ToLower(name), words[i].name) <= 2 || strings.HasPrefix(words[i].name, strings.ToLower(name)) {
			near = append(near, words[i].name)
		}
	}
	if len(near) > 0 {
		text += "\n\nDid you mean this?\n\t" + strings.Join(near, "\n\t")
	}
	return plainError(text)
}

// plainError is printed after "error: ".
type plainError string

func (e plainError) Error() string { return string(e) }

// help lists the commands, or says what one of them is for and which flags it has.
func (c *call) help() error {
	list := words
	var found *word
	for _, name := range c.args {
		w := findWord(list, name)
		if w == nil {
			if found == nil && c.word.name == "" {
				c.printf("Unknown help topic [`%s`]\n", name)
			}
			break
		}
		found, list = w, w.sub
	}
	if found == nil && c.word != nil && c.word.name != "" {
		found, list = c.word, c.word.sub
	}
	if found == nil {
		c.printf("kubectl controls the Kubernetes cluster manager, here a simulated one.\n\nCommands:\n")
	} else {
		c.printf("%s\n", found.help)
	}
	rows := [][]string{}
	for i := range list {
		rows = append(rows, []string{"  " + list[i].name, list[i].help})
	}
	for _, line := range align(rows, 3) {
		c.printf("%s\n", line)
	}
	if found != nil && found.flags != "" {
		c.printf("\nFlags:\n")
		for _, f := range flagsOf(found.flags) {
			c.printf("  %s\n", f.named())
		}
	}
	return nil
}

// subHelp is the outcome of a command that needs one below it.
func (c *call) subHelp() error {
	if err := c.help(); err != nil {
		return err
	}
	return exitCode(1)
}
