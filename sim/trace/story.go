package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// printer formats steps.
type printer struct {
	b       strings.Builder
	day     string
	dropped uint64
	idle    idle
}

// idle counts the routine steps between two other steps.
type idle struct {
	counts      map[string]int
	first, last time.Time
}

const (
	dayFormat  = "2006-01-02"
	timeFormat = "15:04:05.999"
	margin     = "                         " // indentation of the lines below a step
	admin      = "kubernetes-admin"          // the user of all requests without authentication
)

// inOrder returns the newest steps, and all marked steps before them.
func (p *printer) inOrder(steps []*step, lines int) string {
	first := 0
	if lines > 0 {
		left := lines
		for first = len(steps); first > 0 && left > 0; first-- {
			if steps[first-1].noise == "" {
				left--
			}
		}
	}
	p.print(steps, first)
	return p.b.String()
}

// print prints the steps from index first on, and the marked steps before it.
func (p *printer) print(steps []*step, first int) {
	left := p.dropped > 0
	for i, s := range steps {
		if i < first && s.marker == "" {
			left = true
			continue
		}
		if left {
			p.flush()
			fmt.Fprintf(&p.b, "%7s\n", "…")
			left = false
		}
		p.step(s)
	}
	p.flush()
}

// byObject returns the steps grouped by object.
func (p *printer) byObject(steps []*step, lines int) string {
	var order []string
	of := map[string][]*step{}
	if lines > 0 {
		steps = steps[max(0, len(steps)-lines):]
	}
	for _, s := range steps {
		name := s.object()
		if of[name] == nil {
			order = append(order, name)
		}
		of[name] = append(of[name], s)
	}
	for _, name := range order {
		p.day = ""
		p.b.WriteString(name + "\n")
		p.print(of[name], 0)
	}
	return p.b.String()
}

// object returns the object of a step, for the heading of its group.
func (s *step) object() string {
	resource, _, _ := strings.Cut(s.record.What, "/")
	switch {
	case s.record.What == "":
		return "(nothing stored)"
	case strings.HasPrefix(s.record.What, "/"):
		return s.record.What
	}
	return strings.TrimSpace(resource + " " + s.key())
}

// step prints one step, or counts it if it is a routine step.
func (p *printer) step(s *step) {
	if s.noise != "" && s.marker == "" {
		p.idle.add(s)
		return
	}
	p.flush()
	p.date(s.at)
	r := s.record
	fmt.Fprintf(&p.b, "%-1s%6d %-12s %s\n", s.marker, s.n, s.at.UTC().Format(timeFormat), s.headline())
	for _, f := range s.faults {
		if f != r {
			p.below("fault: " + f.Text)
		}
	}
	if s.answer != nil && s.answer.Hint != "" {
		p.below(s.answer.Hint)
	}
	for _, c := range s.changes {
		p.change(c)
	}
	if len(s.notified) > 0 {
		p.below("notified: " + strings.Join(s.notified, ", "))
	}
	if a := s.answer; a != nil && a.At.Sub(s.at) > 0 {
		p.below("answered after " + a.At.Sub(s.at).String())
	}
}

func (p *printer) below(text string) { p.b.WriteString(margin + text + "\n") }

// change prints a write.
func (p *printer) change(c *Record) {
	line := fmt.Sprintf("%s %s, revision %d", c.What, c.Key, c.Rev)
	switch {
	case c.Verb == "ADDED":
		p.below(line + ": it is new")
	case c.Verb == "DELETED":
		p.below(line + ": it is gone")
	case c.Before == nil || c.After == nil: // a trace that was loaded from a file
		p.below(line)
	default:
		p.below(line)
		for _, d := range Difference(parsed(c.Before), parsed(c.After)) {
			p.below("    " + d)
		}
	}
}

// parsed parses the state of an object. It returns nil if the state is invalid.
func parsed(data []byte) object.Object {
	obj, err := object.Parse(data)
	if err != nil {
		return nil
	}
	return obj
}

// date prints the day if it has changed.
func (p *printer) date(at time.Time) {
	if day := at.UTC().Format(dayFormat); day != p.day {
		p.day = day
		p.b.WriteString(day + "\n")
	}
}

// headline returns the first line of a step: the client, the request and the result.
func (s *step) headline() string {
	r := s.record
	switch r.Site {
	case Fault:
		return "fault: " + r.Text
	case WatchSent:
		return fmt.Sprintf("%s is notified now: %s %s %s, revision %d", r.client(), r.Verb, r.What, r.Key, r.Rev)
	case StoreCommitted:
		return r.clientAndUser() + " writes"
	}
	words := []string{r.clientAndUser(), r.Verb, r.What, s.key()}
	if r.Replica > 1 {
		words = append(words, fmt.Sprintf("(API server %d)", r.Replica))
	}
	words = append(words, "→", s.outcome())
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// outcome returns a short form of the response.
func (s *step) outcome() string {
	a := s.answer
	switch {
	case a == nil:
		return "no answer yet"
	case a.Text == "":
		return strconv.Itoa(a.Code)
	case a.Code < 300:
		return strconv.Itoa(a.Code) + ", with a warning: " + a.Text
	}
	return strconv.Itoa(a.Code) + ": " + a.Text
}

// clientAndUser returns the name of a client, followed by its user if the user is neither the client nor the default.
func (r *Record) clientAndUser() string {
	name := r.client()
	switch {
	case name == "?" && r.User == "":
		return "the store itself"
	case name == "?":
		return r.User
	case r.User == "" || r.User == admin || r.User == name:
		return name
	}
	return name + " (" + r.User + ")"
}

func (i *idle) add(s *step) {
	if i.counts == nil {
		i.counts, i.first = map[string]int{}, s.at
	}
	i.counts[s.noise]++
	i.last = s.at
}

// flush prints the counted routine steps.
func (p *printer) flush() {
	if p.idle.counts == nil {
		return
	}
	var parts []string
	for _, nouns := range object.SortedKeys(p.idle.counts) {
		n := p.idle.counts[nouns]
		one, many, _ := strings.Cut(nouns, "/")
		if n == 1 {
			many = one
		}
		parts = append(parts, fmt.Sprint(n, " ", many))
	}
	line := strings.Join(parts, ", ")
	if d := p.idle.last.Sub(p.idle.first); d > 0 {
		line += " in " + d.Round(time.Second).String()
	}
	fmt.Fprintf(&p.b, "%7s %-12s %s\n", "…", "", line)
	p.idle = idle{}
}
