package campaign

import (
	"fmt"
	"net/http"
	"strings"
)

// shape identifies a kind of write. It does not include the name of the object.
type shape struct{ client, verb, resource string }

func (w *Write) shape() shape { return shape{w.Client, w.Verb, w.What} }

// done reports whether the write changed the store or got a successful response.
func (w *Write) done() bool { return w.Committed || w.Code/100 == 2 }

// Suspects compares the writes of a failed run with those of a passed run. For each kind of write whose number differs,
// it returns a line with both numbers, and lines for the additional or failed writes. It returns "" if there is no
// difference.
func Suspects(passed, failed *Outcome) string {
	before, after := count(passed.Writes), count(failed.Writes)
	var b strings.Builder
	told := map[shape]bool{}
	for i := range failed.Writes {
		s := failed.Writes[i].shape()
		if told[s] || before[s] == after[s] {
			continue
		}
		told[s] = true
		printWrites(&b, s, before[s], after[s], failed.Writes)
	}
	for i := range passed.Writes {
		s := passed.Writes[i].shape()
		if !told[s] && before[s] != after[s] {
			told[s] = true
			printWrites(&b, s, before[s], after[s], failed.Writes)
		}
	}
	return b.String()
}

// count counts the successful writes of each shape.
func count(list []Write) map[shape]int {
	n := map[shape]int{}
	for i := range list {
		if list[i].done() {
			n[list[i].shape()]++
		}
	}
	return n
}

// printWrites prints the writes of a shape: the additional ones if there are too many, the failed ones if there are too
// few.
func printWrites(b *strings.Builder, s shape, usual, now int, writes []Write) {
	fmt.Fprintf(b, "%s %s %s: %d times instead of %d\n", s.client, s.verb, s.resource, now, usual)
	done := 0
	for i := range writes {
		w := &writes[i]
		if w.shape() != s {
			continue
		}
		if w.done() {
			done++
		}
		switch {
		case w.done() && now > usual && done > usual:
			fmt.Fprintf(b, "  additional write: n %d, +%v: %s %s %s\n", w.N, w.At, w.Verb, w.What, w.Key)
		case w.Committed && w.Code >= 300:
			fmt.Fprintf(b, "  its client got another answer: n %d, +%v: %s %s %s: %d\n", w.N, w.At, w.Verb, w.What, w.Key, w.Code)
		case !w.done() && now <= usual:
			fmt.Fprintf(b, "  failed: n %d, +%v: %s %s %s: %s\n", w.N, w.At, w.Verb, w.What, w.Key, answer(w.Code))
		}
	}
}

// Abandoned returns a line for each object for which the last write of a client failed, so that the client never tried
// it again. It compares deletions only with deletions, and other writes only with writes of the same object or
// subresource. A failure does not count if it shows that the write is not needed: the object to create already exists,
// or the object to change or delete does not. Abandoned returns "" if there is no such object.
func Abandoned(run *Outcome) string {
	type target struct {
		client, what, key string
		deletes           bool
	}
	last := map[target]*Write{}
	var order []target
	for i := range run.Writes {
		w := &run.Writes[i]
		t := target{w.Client, w.What, w.Key, w.Verb == "delete"}
		if last[t] == nil {
			order = append(order, t)
		}
		last[t] = w
	}
	var b strings.Builder
	for _, t := range order {
		w := last[t]
		needless := w.Code == http.StatusNotFound || w.Verb == "create" && w.Code == http.StatusConflict
		if !w.done() && !needless {
			fmt.Fprintf(&b, "%s %s %s %s: %s at +%v (n %d)\n", w.Client, w.Verb, w.What, w.Key, answer(w.Code), w.At, w.N)
		}
	}
	return b.String()
}

func answer(code int) string {
	if code == 0 {
		return "it got no answer"
	}
	return fmt.Sprint(code)
}
