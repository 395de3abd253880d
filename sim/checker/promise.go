package checker

import "fmt"

// Promise is a guarantee of a server to its clients, with a check.
type Promise struct {
	Name  string
	Text  string
	Check func(*Evidence, Report)
}

// Report reports a violation of a promise.
type Report func(format string, args ...any)

// Promises are all promises that Check checks.
var Promises = []Promise{
	{"Readable", "what a server sends can be read", Readable},
	{"Ordered", "a watch delivers events in the order of their revisions", Ordered},
	{"Unique", "a watch delivers no event twice", Unique},
	{"Reliable", "between two events of a watch no event is missing", Reliable},
	{"Resumable", "a watch from a revision delivers everything after it, and nothing up to it", Resumable},
	{"Bookmarkable", "a bookmark says that everything up to its revision has been delivered", Bookmarkable},
	{"Filtered", "a watch delivers ADDED, MODIFIED and DELETED as objects enter, change inside and leave its selector", Filtered},
	{"InitialEventsEnd", "initial events end with one bookmark that says so", InitialEventsEnd},
	{"Delivered", "an open watch delivers everything in the end", Delivered},
	{"Monotone", "an object never goes back to an older revision", Monotone},
	{"UIDConsistent", "an object keeps its uid from its creation to its deletion, and no other object has it", UIDConsistent},
	{"Faithful", "an object at a revision is the same wherever it is seen", Faithful},
	{"AtomicList", "a list is the state of one revision", AtomicList},
	{"Fresh", "a read is not older than it asked to be", Fresh},
	{"Accounted", "a write that succeeded is one commit, and every commit belongs to a request", Accounted},
	{"NoLostUpdate", "a write that names the revision it is based on replaces that revision and no other", NoLostUpdate},
}

// violationsMax is the maximum number of reported violations per promise.
const violationsMax = 5

// Check checks all promises and returns the violations.
func Check(h *History) []Violation {
	e := Index(h)
	var out []Violation
	for _, p := range Promises {
		told := 0
		p.Check(e, func(format string, args ...any) {
			if told++; told <= violationsMax {
				out = append(out, Violation{p.Name, p.Text, fmt.Sprintf(format, args...)})
			}
		})
	}
	return out
}

// Readable checks that all responses and events could be parsed.
func Readable(e *Evidence, report Report) {
	for _, text := range e.Unreadable {
		report("%s", text)
	}
}
