package scenario

import "slices"

// Flag describes one flag.
type Flag struct {
	Name   string   // without dashes
	Short  string   // one letter, or ""
	Value  string   // placeholder of its value; empty if it takes none
	Values []string // the allowed values; nil allows any
	Help   string
	repeat bool // may be given several times
	number bool // its value is a number
}

var flagTable = []Flag{
	{Name: "as", Value: "CLIENT", Help: "who sends the request: a name of your choice"},
	{Name: "via", Value: "N", Help: "the replica that gets the request, whatever the client's route", number: true},
	{Name: "namespace", Short: "n", Value: "NAMESPACE", Help: "the namespace; without it: default"},
	{Name: "all-namespaces", Short: "A", Help: "all namespaces"},
	{Name: "output", Short: "o", Value: "FORMAT", Values: []string{"json", "yaml", "table", "name", "protobuf"},
		Help: "how the answer is encoded and printed"},
	{Name: "filename", Short: "f", Value: "FILE", Help: "a file of the scenario"},
	{Name: "rv", Value: "REVISION",
		Help: "the resourceVersion to read at, or that a written object is based on; last: that of the client's last answer; " +
			"seen: the newest one of the object, or of a watch of the same, that the client was shown, if any; " +
			"-20, +3: so far from the store's newest"},
	{Name: "rv-match", Value: "MATCH", Values: []string{"Exact", "NotOlderThan"},
		Help: "how --rv is meant (resourceVersionMatch)"},
	{Name: "limit", Value: "N", Help: "at most so many items on a page", number: true},
	{Name: "continue", Value: "TOKEN", Help: "the page after; last: after the client's last page"},
	{Name: "selector", Short: "l", Value: "SELECTOR", Help: "a label selector"},
	{Name: "field-selector", Value: "SELECTOR", Help: "a field selector"},
	{Name: "bookmarks", Help: "let the watch have bookmarks (allowWatchBookmarks)"},
	{Name: "initial-events",
		Help: "let the watch begin with what there is (sendInitialEvents); implies --bookmarks and --rv-match=NotOlderThan"},
	{Name: "send-initial-events", Value: "BOOL", Values: []string{"true", "false"},
		Help: "whether the watch begins with what there is, and nothing else; one that goes on where --rv seen says does not"},
	{Name: "at-most", Value: "N", Help: "how many watches the client has; the oldest one makes room", number: true},
	{Name: "timeout", Value: "SECONDS", Help: "when the watch ends (timeoutSeconds)", number: true},
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
	{Name: "grace", Value: "SECONDS", Help: "gracePeriodSeconds", number: true},
	{Name: "precondition-rv", Value: "REVISION", Help: "delete only the object of this resourceVersion; seen: as for --rv"},
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

// Flags returns all flags.
func Flags() []Flag { return slices.Clone(flagTable) }

// findFlag returns the flag with a long name, or with a short one.
func findFlag(name string) *Flag {
	for i := range flagTable {
		if f := &flagTable[i]; f.Name == name || f.Short == name && name != "" {
			return f
		}
	}
	return nil
}
