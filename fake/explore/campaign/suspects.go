package campaign

import (
	"fmt"
	"strings"
)

// shape is what two writes have in common that do the same to objects of different names.
type shape struct{ client, verb, resource string }

func (w *Write) shape() shape { return shape{w.Client, w.Verb, w.What} }

// done reports whether the write was done, whether its client knows or not.
func (w *Write) done() bool { return w.Committed || w.Code/100 == 2 }

// Suspects compares the writes of a failed run with those of a passed one. It returns a line for each kind of write that occurs more or
// less often, and for the refused ones among them, or "" if there is no difference.
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

// count counts the writes of each shape that were done.
func count(list []Write) map[shape]int {
	n := map[shape]int{}
	for i := range list {
		if list[i].done() {
			n[list[i].shape()]++
		}
	}
	return n
}

// printWrites prints the writes of a shape: the excess ones if there are too many, the failed ones if there are too few.
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

func answer(code int) string {
	if code == 0 {
		return "it got no answer"
	}
	return fmt.Sprint(code)
}
