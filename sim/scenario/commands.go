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
)

// Command describes one word that an operation can begin with.
type Command struct {
	Name  string
	Usage string // what follows the name, flags aside
	Help  string // one sentence
	Group Group
	Flags []string // long names of those that it takes

	min, max int  // positional arguments; max < 0: any number
	text     bool // the rest of the line is one text, in a language of its own
}

// Flag describes one flag.
type Flag struct {
	Name   string   // without dashes
	Short  string   // one letter, or ""
	Value  string   // what its value is called; "": it takes none
	Values []string // the only values there are; nil: any
	Help   string
	repeat bool // may be given several times
}

var flagTable = []Flag{
	{Name: "as", Value: "CLIENT", Help: "who sends the request: a name of your choice"},
	{Name: "via", Value: "N", Help: "the replica that gets the request, whatever the client's route"},
	{Name: "namespace", Short: "n", Value: "NAMESPACE", Help: "the namespace; without it: default"},
	{Name: "all-namespaces", Short: "A", Help: "all namespaces"},
	{Name: "output", Short: "o", Value: "FORMAT", Values: []string{"json", "yaml", "table", "name", "protobuf"},
		Help: "how the answer is encoded and printed"},
	{Name: "filename", Short: "f", Value: "FILE", Help: "a file of the scenario"},
	{Name: "rv", Value: "REVISION",
		Help: "the resourceVersion to read at, or that a written object is based on; last: that of the client's last answer"},
	{Name: "rv-match", Value: "MATCH", Values: []string{"Exact", "NotOlderThan"},
		Help: "how --rv is meant (resourceVersionMatch)"},
	{Name: "limit", Value: "N", Help: "at most so many items on a page"},
	{Name: "continue", Value: "TOKEN", Help: "the page after; last: after the client's last page"},
	{Name: "selector", Short: "l", Value: "SELECTOR", Help: "a label selector"},
	{Name: "field-selector", Value: "SELECTOR", Help: "a field selector"},
	{Name: "bookmarks", Help: "let the watch have bookmarks (allowWatchBookmarks)"},
	{Name: "initial-events",
		Help: "let the watch begin with what there is (sendInitialEvents); implies --bookmarks and --rv-match=NotOlderThan"},
	{Name: "timeout", Value: "SECONDS", Help: "when the watch ends (timeoutSeconds)"},
	{Name: "name", Value: "NAME", Help: "what later lines call the watch"},
	{Name: "type", Value: "TYPE", Values: []string{"strategic", "merge", "json", "apply"},
		Help: "how the patch is meant"},
	{Name: "patch", Short: "p", Value: "PATCH", Help: "the patch, JSON or YAML"},
	{Name: "field-manager", Value: "NAME", Help: "in whose name fields are owned; without it: the client"},
	{Name: "force", Help: "take over fields that others own"},
	{Name: "dry-run", Help: "do everything but store it (dryRun=All)"},
	{Name: "validate", Value: "HOW", Values: []string{"Strict", "Warn", "Ignore"},
		Help: "what becomes of unknown fields (fieldValidation)"},
	{Name: "subresource", Value: "NAME", Help: "a part of the object: status, scale, …"},
	{Name: "set", Value: "PATH=VALUE", repeat: true, Help: "a field of the object that is created: spec.replicas=3"},
	{Name: "from-literal", Value: "KEY=VALUE", repeat: true, Help: "an entry of the data of a ConfigMap"},
	{Name: "cascade", Value: "HOW", Values: []string{"background", "foreground", "orphan"},
		Help: "what becomes of dependents (propagationPolicy)"},
	{Name: "grace", Value: "SECONDS", Help: "gracePeriodSeconds"},
	{Name: "precondition-rv", Value: "REVISION", Help: "delete only the object of this resourceVersion"},
	{Name: "precondition-uid", Value: "UID", Help: "delete only the object of this uid"},
	{Name: "all", Help: "delete all of them"},
	{Name: "header", Short: "H", Value: "HEADER", repeat: true, Help: "a header of the request: 'Name: value'"},
	{Name: "data", Short: "d", Value: "BODY", Help: "the body of the request"},
	{Name: "list-watch", Help: "do not begin with a watch-list, as clients before 1.35 did"},
}

var (
	requestFlags = []string{"as", "via", "namespace", "output"}
	readFlags    = append(slices.Clone(requestFlags), "all-namespaces", "rv", "rv-match", "limit", "continue", "selector", "field-selector", "subresource")
	writeFlags   = append(slices.Clone(requestFlags), "filename", "rv", "field-manager", "dry-run", "validate", "subresource")
	deleteFlags  = append(slices.Clone(requestFlags), "cascade", "grace", "precondition-rv", "precondition-uid", "dry-run")
	actorFlags   = []string{"namespace", "selector", "field-selector", "limit", "list-watch"}
)

var commandTable = []Command{
	{Name: "get", Usage: "RESOURCE [NAME]",
		Help: "read one object, or list them", Group: Requests, Flags: readFlags, min: 1, max: 2},
	{Name: "list", Usage: "RESOURCE",
		Help: "read the objects of a resource", Group: Requests, Flags: readFlags, min: 1, max: 1},
	{Name: "watch", Usage: "RESOURCE [NAME]", Help: "be told of changes", Group: Requests,
		Flags: append(slices.Clone(readFlags), "bookmarks", "initial-events", "timeout", "name"), min: 1, max: 2},
	{Name: "create", Usage: "-f FILE | RESOURCE NAME", Help: "create an object", Group: Requests,
		Flags: append(slices.Clone(writeFlags), "set", "from-literal"), max: 2},
	{Name: "apply", Usage: "-f FILE",
		Help: "apply an object on the server's side", Group: Requests, Flags: append(slices.Clone(writeFlags), "force"), max: 2},
	{Name: "replace", Usage: "-f FILE",
		Help: "put an object in the place of the stored one", Group: Requests, Flags: writeFlags, max: 2},
	{Name: "patch", Usage: "RESOURCE NAME -p PATCH", Help: "change a part of an object", Group: Requests,
		Flags: append(slices.Clone(writeFlags), "type", "patch", "force"), min: 1, max: 2},
	{Name: "delete", Usage: "RESOURCE NAME | RESOURCE --all | RESOURCE -l SELECTOR | -f FILE",
		Help: "delete objects", Group: Requests,
		Flags: append(slices.Clone(deleteFlags), "all", "selector", "field-selector", "filename", "subresource"), max: 2},
	{Name: "deletecollection", Usage: "RESOURCE",
		Help: "delete all objects of a resource, or those that selectors name", Group: Requests,
		Flags: append(slices.Clone(deleteFlags), "selector", "field-selector", "limit", "continue", "rv", "rv-match"), min: 1, max: 1},
	{Name: "request", Usage: "METHOD PATH", Help: "send any HTTP request", Group: Requests,
		Flags: []string{"as", "via", "header", "filename", "data", "output", "name"}, min: 2, max: 2},

	{Name: "seed", Usage: "N", Help: "decide all names, uids and draws; stands first", Group: Worldly, min: 1, max: 1},
	{Name: "replicas", Usage: "N",
		Help: "have so many API servers over one store; stands first", Group: Worldly, min: 1, max: 1},
	{Name: "replica", Usage: "N [version=1.35] [gates=NAME=true,…] [serve=GROUP/VERSION=false] [peers=true]",
		Help: "say what one API server is like; stands first", Group: Worldly, min: 2, max: -1},
	{Name: "clock", Usage: "advance DURATION", Help: "let time pass", Group: Worldly, min: 2, max: 2},
	{Name: "tick", Usage: "DURATION|next|quiet",
		Help: "let time pass: so long, to the next thing that happens, or until nobody waits", Group: Worldly, min: 1, max: 1},
	{Name: "settle",
		Help: "let all controllers work until nothing is left to do, without letting time pass", Group: Worldly},
	{Name: "compact", Help: "let the store forget all revisions before now", Group: Worldly},
	{Name: "expire", Help: "let the store and every watch cache forget all history", Group: Worldly},
	{Name: "restore", Usage: "REVISION",
		Help: "take the store back to a revision, as from a backup", Group: Worldly, min: 1, max: 1},
	{Name: "lag", Usage: "N [RESOURCE …]",
		Help: "stop a replica from learning of commits", Group: Worldly, min: 1, max: -1},
	{Name: "cut", Usage: "N", Help: "take the store out of a replica's reach", Group: Worldly, min: 1, max: 1},
	{Name: "resume", Usage: "N", Help: "end lag and cut of a replica", Group: Worldly, min: 1, max: 1},
	{Name: "restart", Usage: "N",
		Help: "restart a replica: its watches end, its caches are filled anew", Group: Worldly, min: 1, max: 1},
	{Name: "unready", Usage: "N DURATION [RESOURCE …]", Group: Worldly, min: 2, max: -1,
		Help: "let a replica fill its watch caches anew for so long: watches end, and begin with 429"},
	{Name: "stall", Usage: "N [DURATION]",
		Help: "silence a replica's open watches; after the duration they break", Group: Worldly, min: 1, max: 2},
	{Name: "close", Usage: "N|WATCH",
		Help: "let the server end the watches of a replica, or one watch", Group: Worldly, min: 1, max: 1},
	{Name: "stop", Usage: "WATCH", Help: "let the client end a watch", Group: Worldly, min: 1, max: 1},
	{Name: "route", Usage: "CLIENT N",
		Help: "lead a client's next requests to a replica", Group: Worldly, min: 2, max: 2},
	{Name: "hold", Usage: "CLIENT", Help: "keep back the watch events of a client", Group: Worldly, min: 1, max: 1},
	{Name: "release", Usage: "CLIENT", Help: "let go what hold keeps back", Group: Worldly, min: 1, max: 1},
	{Name: "jump", Usage: "CLIENT DURATION",
		Help: "move a client's clock against the cluster's", Group: Worldly, min: 2, max: 2},
	{Name: "fault", Usage: "on … do … | clear | release",
		Help: "let something go wrong", Group: Worldly, min: 1, text: true},

	{Name: "informer", Usage: "NAME RESOURCE",
		Help: "start a client that lists, watches and keeps a cache", Group: Actors, Flags: actorFlags, min: 2, max: 2},
	{Name: "pager", Usage: "NAME RESOURCE",
		Help: "start a client that reads a list page by page, one each step", Group: Actors, Flags: actorFlags, min: 2, max: 2},
	{Name: "controller", Usage: "NAME -f RULES",
		Help: "start a client that acts on what its informers show", Group: Actors, Flags: []string{"filename", "namespace"}, min: 1, max: 1},
	{Name: "step", Usage: "NAME [N]",
		Help: "let a pager or controller send its next N requests", Group: Actors, min: 1, max: 2},
	{Name: "crash", Usage: "NAME", Help: "let an actor lose all it has in memory", Group: Actors, min: 1, max: 1},
	{Name: "start", Usage: "NAME", Help: "start an actor again", Group: Actors, min: 1, max: 1},

	{Name: "expect", Usage: "CONDITION", Help: "it holds now", Group: Checks, min: 1, text: true},
	{Name: "never", Usage: "CONDITION",
		Help: "it holds after no commit from here on", Group: Checks, min: 1, text: true},
	{Name: "eventually", Usage: "[within DURATION] CONDITION",
		Help: "it holds when controllers have worked and time has passed, 1m at most unless it says", Group: Checks, min: 1, text: true},
	{Name: "once", Usage: "CONDITION do OPERATION",
		Help: "do something as soon as a commit makes a condition true", Group: Checks, min: 1, text: true},
	{Name: "let", Usage: "NAME = VALUE",
		Help: "keep a value, such as .metadata.continue of the last answer, as $NAME", Group: Checks, min: 1, text: true},
}

// Commands returns what an operation can begin with, in the order of a help text.
func Commands() []Command { return slices.Clone(commandTable) }

// Flags returns all flags.
func Flags() []Flag { return slices.Clone(flagTable) }

func findCommand(name string) *Command {
	for i := range commandTable {
		if commandTable[i].Name == name {
			return &commandTable[i]
		}
	}
	return nil
}

// findFlag returns the flag with a long name, or with a short one.
func findFlag(name string) *Flag {
	for i := range flagTable {
		if f := &flagTable[i]; f.Name == name || f.Short == name && name != "" {
			return f
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
