package scenario

import "slices"

// Group is a group of commands in the help.
type Group string

// The groups of commands, in the order of a help text.
const (
	Requests Group = "requests"
	Worldly  Group = "world"
	Actors   Group = "actors"
	Checks   Group = "checks"
	Prompt   Group = "prompt" // lines of a shell, with kubectl and other tools
)

// Command describes one command of the language, for Parse, World.Do, the help and the completion of the page. Each command is
// defined in the file that implements it.
type Command struct {
	Name    string
	Usage   string // the arguments, without flags
	Help    string // one sentence
	Example string // a line
	Group   Group
	Flags   []string // long names of its flags
	Args    []Arg    // kinds of its arguments, in order; none if the rest is one text
	Words   []Choice // the values, or the most frequent values, of its first argument

	needs int  // the least number of arguments
	more  bool // the last argument may be repeated
	text  bool // the rest of the line is one text, in a language of its own

	check func(op *Op, at int) error     // checks beyond Args and Flags, if any
	run   func(w *World, op *Op) error   // runs it; after an error nothing has changed
	plan  func(o *Options, op *Op) error // of commands that come first: sets options of the World
	build func(b *builder) error         // of Requests: builds the requests
}

// Arg is the kind of an argument of a command. Parse checks numbers and times, and completion suggests the other kinds.
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

// Choice is a word and its meaning.
type Choice struct{ Text, Help string }

// Arg returns the kind of the argument at index n.
func (c *Command) Arg(n int) Arg {
	switch {
	case n < len(c.Args):
		return c.Args[n]
	case c.more:
		return c.Args[len(c.Args)-1]
	}
	return Nothing
}

// commandTable lists the commands in the order of the help. It is initialised at run time because some commands parse other commands.
var commandTable []Command

func init() {
	commandTable = slices.Concat(readCommands, writeCommands, deleteCommands, rawCommands,
		prepareCommands, timeCommands, historyCommands, replicaCommands, planeCommands, watchCommands, placeCommands, faultCommands,
		actorCommands, checkCommands, promptCommands)
}

// Commands returns the commands in the order of the help.
func Commands() []Command { return slices.Clone(commandTable) }

// FindCommand returns the command of a name, or nil if there is none. The result must not be changed.
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
