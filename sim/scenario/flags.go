package scenario

import "slices"

// Flag describes one flag.
type Flag struct {
	Name   string   // without dashes
	Short  string   // one letter, or ""
	Value  string   // the placeholder for its value; empty if it takes none
	Values []string // the allowed values; if nil, all values are allowed
	Help   string
	repeat bool // may be given several times
	number bool // its value is a number
}

var flagTable = []Flag{
	{Name: "as", Value: "CLIENT", Help: "the client that sends the request: a name of your choice"},
	{Name: "via", Value: "N", Help: "the replica that gets the request, regardless of the client's route", number: true},
	{Name: "namespace", Short: "n", Value: "NAMESPACE", Help: "the namespace; the default is default"},
	{Name: "all-namespaces", Short: "A", Help: "all namespaces"},
	{Name: "output", Short: "o", Value: "FORMAT", Values: []string{"json", "yaml", "table", "name", "protobuf"},
		Help: "how the answer is encoded and printed"},
	{Name: "filename", Short: "f", Value: "FILE", Help: "a file of the scenario"},
	{Name: "rv", Value: "REVISION",
		Help: "the resourceVersion to read at, or on which a written object is based; last: the one of the client's last answer; seen: the newest one of the object, or of a watch of it, that the client has received, if any; -20, +3: relative to the store's newest"},
	{Name: "rv-match", Value: "MATCH", Values: []string{"Exact", "NotOlderThan"},
		Help: "the meaning of --rv (resourceVersionMatch)"},
	{Name: "limit", Value: "N", Help: "at most so many items on a page", number: true},
	{Name: "continue", Value: "TOKEN", Help: "the page after; last: after the client's last page"},
	{Name: "selector", Short: "l", Value: "SELECTOR", Help: "a label selector"},
	{Name: "field-selector", Value: "SELECTOR", Help: "a field selector"},
	{Name: "bookmarks", Help: "request bookmarks (allowWatchBookmarks)"},
	{Name: "initial-events",
		Help: "start the watch with the existing objects (sendInitialEvents); implies --bookmarks and --rv-match=NotOlderThan"},
	{Name: "send-initial-events", Value: "BOOL", Values: []string{"true", "false"},
		Help: "whether the watch starts with the existing objects, without other effects; one that continues from --rv seen does not"},
	{Name: "at-most", Value: "N", Help: "the maximum number of watches of the client; the oldest one is closed", number: true},
	{Name: "timeout", Value: "SECONDS", Help: "the time after which the watch ends (timeoutSeconds)", number: true},
	{Name: "name", Value: "NAME", Help: "the name of the watch in later lines"},
	{Name: "type", Value: "TYPE", Values: []string{"strategic", "merge", "json", "apply"},
		Help: "the type of the patch"},
	{Name: "patch", Short: "p", Value: "PATCH", Help: "the patch, JSON or YAML"},
	{Name: "field-manager", Value: "NAME", Help: "the owner of the applied fields; the default is the client"},
	{Name: "force", Help: "take over fields that others own"},
	{Name: "dry-run", Help: "do everything except storing it (dryRun=All)"},
	{Name: "validate", Value: "HOW", Values: []string{"Strict", "Warn", "Ignore"},
		Help: "the handling of unknown fields (fieldValidation)"},
	{Name: "subresource", Value: "NAME", Help: "a subresource: status, scale, …"},
	{Name: "set", Value: "PATH=VALUE", repeat: true, Help: "a field of the object that is created: spec.replicas=3"},
	{Name: "from-literal", Value: "KEY=VALUE", repeat: true, Help: "an entry of the data of a ConfigMap"},
	{Name: "cascade", Value: "HOW", Values: []string{"background", "foreground", "orphan"},
		Help: "the handling of dependents (propagationPolicy)"},
	{Name: "grace", Value: "SECONDS", Help: "gracePeriodSeconds", number: true},
	{Name: "precondition-rv", Value: "REVISION", Help: "delete the object only if it has this resourceVersion; seen: as for --rv"},
	{Name: "precondition-uid", Value: "UID", Help: "delete the object only if it has this uid"},
	{Name: "all", Help: "delete all of them"},
	{Name: "header", Short: "H", Value: "HEADER", repeat: true, Help: "a header of the request: 'Name: value'"},
	{Name: "data", Short: "d", Value: "BODY", Help: "the body of the request"},
	{Name: "list-watch", Help: "do not start with a watch-list, like clients before 1.35"},
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

// findFlag returns the flag with the given long or short name, or nil.
func findFlag(name string) *Flag {
	for i := range flagTable {
		if f := &flagTable[i]; f.Name == name || f.Short == name && name != "" {
			return f
		}
	}
	return nil
}
