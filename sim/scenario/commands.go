package scenario

import "slices"

// Group is a group of commands in the help.
type Group string

// The groups of commands, in the order in which the help lists them.
const (
	Requests Group = "requests"
	Worldly  Group = "world"
	Actors   Group = "actors"
	Checks   Group = "checks"
	Prompt   Group = "prompt" // shell lines, with kubectl and other tools
)

// Command describes one command of the language. Parse, World.Do, the help and the page's completion use it. Each
// command is defined in the file that implements it.
type Command struct {
	Name    string
	Usage   string // the arguments, without flags
	Help    string // one sentence
	Example string // an example line
	Group   Group
	Flags   []string // the long names of its flags
	Args    []Arg    // the kinds of its arguments, in order; empty if the rest of the line is not split into words
	Words   []Choice // the possible or most frequent values of its first argument

	needs int  // the minimum number of arguments
	more  bool // the last argument may be repeated
	text  bool // the rest of the line is not split into words

	check func(op *Op, at int) error     // checks an operation beyond Args and Flags; may be nil
	run   func(w *World, op *Op) error   // runs the command; if it returns an error, nothing has changed
	plan  func(o *Options, op *Op) error // for commands that must come first: sets options of the World
	build func(b *builder) error         // for Requests: builds the requests
}

// Arg is the kind of a command's argument. Parse checks only arguments that are numbers or durations. Completion suggests values
// for kinds with known values, such as resources and names.
type Arg int

// The kinds of arguments.
const (
	Nothing             Arg = iota // the command has no such argument
	Word                           // any word: a new name, a revision, an option
	Resource                       // such as pods, deployments.apps
	ObjectName                     // the name of an object of the resource in the preceding argument
	Client                         // the name of a client
	Actor                          // the name of an informer, a pager or a controller that follows rules
	Watch                          // the name of a watch
	Replica                        // the number of an API server, counted from 1
	Controller                     // the name of a controller of the control plane
	ActorOrController              // either of the two
	WatchOrController              // either of the two
	WatchOrReplica                 // either of the two
	ReplicaOrController            // either of the two
	Number                         // greater than zero
	Duration                       // such as 5m, 1.5s
	Offset                         // a duration that may be negative
	Method                         // an HTTP method, such as GET
	Path                           // a URL path, such as /api/v1/pods
)

// Choice is a possible word and its meaning.
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

// commandTable lists the commands in the order of the help. It is initialised at run time because some commands parse
// other commands.
var commandTable []Command

func init() {
	commandTable = slices.Concat(readCommands, writeCommands, deleteCommands, rawCommands,
		prepareCommands, importCommands, timeCommands, historyCommands, replicaCommands, planeCommands, watchCommands, placeCommands, faultCommands,
		actorCommands, checkCommands, promptCommands)
}

// Commands returns the commands in the order of the help.
func Commands() []Command { return slices.Clone(commandTable) }

// FindCommand returns the command with the given name, or nil. The result must not be changed.
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
