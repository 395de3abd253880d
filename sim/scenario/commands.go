package scenario

import "slices"

// Group says what a command is about.
type Group string

// The groups of commands, in the order of a help text.
const (
	Requests Group = "requests"
	Worldly  Group = "world"
	Actors   Group = "actors"
	Checks   Group = "checks"
	Prompt   Group = "prompt" // lines of a shell, with kubectl and what stands beside it
)

// Command is one word that an operation can begin with, and all that is known of it: what Parse, World.Do, the help and
// the completion of the page go by. Each stands in the file of what it does.
type Command struct {
	Name    string
	Usage   string // what follows the name, flags aside
	Help    string // one sentence
	Example string // a line
	Group   Group
	Flags   []string // long names of those that it takes
	Args    []Arg    // what its arguments are, in their order; of commands whose rest is one text: none
	Words   []Choice // what its first argument is, or is most often

	needs int  // so many arguments have to be there
	more  bool // the last one may be there again and again
	text  bool // the rest of the line is one text, in a language of its own

	check func(op *Op, at int) error     // what Args and Flags do not say; nil: they say it all
	run   func(w *World, op *Op) error   // does it; an error means that nothing was done
	plan  func(o *Options, op *Op) error // of those that stand first: says what the world is made with
	build func(b *builder) error         // of Requests: makes what is sent
}

// Arg is what an argument of a command is. Parse checks those that are numbers or times, completion offers the others.
type Arg int

// The arguments.
const (
	Nothing             Arg = iota // there is no such argument
	Word                           // any word: a new name, a revision, an option
	Resource                       // pods, deployments.apps
	ObjectName                     // of an object of the resource before it
	Client                         // the name of a client
	Actor                          // the name of an informer, a pager or a controller that follows rules
	Watch                          // the name of a watch
	Replica                        // an API server, counted from 1
	Controller                     // the name of a controller of the control plane
	ActorOrController              // one of them
	WatchOrController              // one of them
	WatchOrReplica                 // one of them
	ReplicaOrController            // one of them
	Number                         // above zero
	Duration                       // 5m, 1.5s
	Offset                         // a duration that may be negative
	Method                         // GET
	Path                           // /api/v1/pods
)

// Choice is a word, and what it means.
type Choice struct{ Text, Help string }

// Arg returns what the argument at n, counted from 0, is.
func (c *Command) Arg(n int) Arg {
	switch {
	case n < len(c.Args):
		return c.Args[n]
	case c.more:
		return c.Args[len(c.Args)-1]
	}
	return Nothing
}

// commandTable are the commands in the order of a help text. They are put together when the program starts because what
// some of them do is to parse others.
var commandTable []Command

func init() {
	commandTable = slices.Concat(readCommands, writeCommands, deleteCommands, rawCommands,
		prepareCommands, timeCommands, historyCommands, replicaCommands, planeCommands, watchCommands, placeCommands, faultCommands,
		actorCommands, checkCommands, promptCommands)
}

// Commands returns what an operation can begin with, in the order of a help text.
func Commands() []Command { return slices.Clone(commandTable) }

// FindCommand returns the command of a name, nil if there is none. It is not to be changed.
func FindCommand(name string) *Command {
	for i := range commandTable {
		if commandTable[i].Name == name {
			return &commandTable[i]
		}
	}
	return nil
}

func commandNames() []string {
	names := make([]string, len(commandTable))
	for i := range commandTable {
		names[i] = commandTable[i].Name
	}
	return names
}
