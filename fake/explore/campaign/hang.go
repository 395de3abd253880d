package campaign

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// goroutine is a goroutine in a dump of all stacks (runtime.Stack).
type goroutine struct {
	name   string // such as goroutine 17
	state  string // such as sync.Mutex.Lock, chan receive (durable)
	bubble bool
	calls  []call
}

// call is a stack frame.
type call struct {
	function  string
	arguments []uint64
	at        string // file:line
}

var header = regexp.MustCompile(`^(goroutine \d+).*? \[([^\]]*)\]:$`)

// durably marks a goroutine that is durably blocked, so that the bubble's time can advance.
const durably = "(durable)"

// parseStacks parses a dump of all stacks.
func parseStacks(text string) (list []goroutine) {
	for part := range strings.SplitSeq(text, "\n\n") {
		lines := strings.Split(strings.TrimSpace(part), "\n")
		head := header.FindStringSubmatch(lines[0])
		if head == nil {
			continue
		}
		state, rest, _ := strings.Cut(head[2], ", ")
		g := goroutine{name: head[1], state: state, bubble: strings.Contains(rest, "synctest bubble")}
		for i := 1; i+1 < len(lines); i += 2 {
			g.calls = append(g.calls, parseCall(lines[i], lines[i+1]))
		}
		list = append(list, g)
	}
	return list
}

var hexadecimal = regexp.MustCompile(`0x[0-9a-f]+`)

func parseCall(function, place string) call {
	c := call{}
	c.at, _, _ = strings.Cut(strings.TrimSpace(place), " ")
	name, arguments := function, ""
	if i := strings.LastIndex(function, "("); i > 0 {
		name, arguments = function[:i], function[i:]
	}
	c.function = name
	for _, text := range hexadecimal.FindAllString(arguments, -1) {
		if n, err := strconv.ParseUint(text, 0, 64); err == nil {
			c.arguments = append(c.arguments, n)
		}
	}
	return c
}

// Hang analyses a dump of all stacks. It finds the goroutines of bubbles that keep virtual time from advancing, and
// reports what they wait for. report is "" if there are none. waits is false if one of the goroutines is running,
// because it may only be slow.
//
// The runtime does not report which goroutine holds a mutex. Hang guesses: it names a goroutine in a method whose
// receiver is near the mutex in memory.
func Hang(stacks string) (report string, waits bool) {
	list := parseStacks(stacks)
	var b strings.Builder
	waits = true
	for i := range list {
		g := &list[i]
		if !g.bubble || strings.Contains(g.state, durably) || strings.HasPrefix(g.state, "synctest.Run") {
			continue
		}
		if strings.HasPrefix(g.state, "run") || g.state == "syscall" { // running, runnable, or reading a file
			waits = false
		}
		fmt.Fprintf(&b, "%s [%s]%s\n", g.name, g.state, formatCalls(g.calls))
		if mutex := g.mutex(); mutex != 0 {
			fmt.Fprintf(&b, "  waits for the mutex at %#x", mutex)
			if h := holder(list, g, mutex); h != nil {
				fmt.Fprintf(&b, "; this goroutine probably holds it: %s [%s]%s", h.name, h.state, formatCalls(h.calls))
			}
			b.WriteString("\n")
		}
	}
	if b.Len() == 0 {
		return "", false
	}
	return "Virtual time does not move while a goroutine of the bubble waits for a mutex, for a channel that was made outside, or for the network; these do:\n" +
		b.String(), waits
}

// mutex returns the address of the mutex that the goroutine waits for, or 0 if it does not wait for one.
func (g *goroutine) mutex() uint64 {
	if !strings.HasPrefix(g.state, "sync.") {
		return 0
	}
	for _, c := range g.calls {
		if strings.Contains(c.function, "lockSlow") || strings.Contains(c.function, "Mutex).") && len(c.arguments) > 0 {
			if len(c.arguments) > 0 {
				return c.arguments[0]
			}
		}
	}
	return 0
}

// nearby is the maximum distance between the beginning of a struct and one of its mutexes.
const nearby = 4096

// holder returns the goroutine that probably holds the mutex: it is in a method of the struct that contains the mutex,
// and does not wait for the mutex itself.
func holder(list []goroutine, waiting *goroutine, mutex uint64) *goroutine {
	var found *goroutine
	nearest := uint64(nearby)
	for i := range list {
		g := &list[i]
		if g == waiting || !g.bubble || g.mutex() == mutex {
			continue
		}
		for _, c := range g.calls {
			if len(c.arguments) > 0 && c.arguments[0] <= mutex && mutex-c.arguments[0] < nearest {
				found, nearest = g, mutex-c.arguments[0]
			}
		}
	}
	return found
}

// callsShown is the maximum number of printed calls per goroutine.
const callsShown = 12

// formatCalls formats the calls of a goroutine, innermost first, without calls of the runtime and package sync.
func formatCalls(calls []call) string {
	var b strings.Builder
	shown := 0
	for _, c := range calls {
		if strings.HasPrefix(c.function, "runtime.") || strings.HasPrefix(c.function, "internal/sync.") ||
			strings.HasPrefix(c.function, "sync.") {
			continue
		}
		if shown++; shown > callsShown {
			break
		}
		fmt.Fprintf(&b, "\n    %s %s", c.function, c.at)
	}
	return b.String()
}
