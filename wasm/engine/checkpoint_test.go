package engine

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
)

// typeMany types n lines of everyday use into a page, and returns the hash after each line.
func typeMany(p *page, n int) (hashes []string) {
	for i := range n {
		p.do([]string{
			fmt.Sprintf("kubectl create configmap c%d --from-literal=a=%d", i, i), "kubectl get all", fmt.Sprintf("kubectl label configmap c%d x=y", i-2),
			"kubectl get pods", fmt.Sprintf("kubectl delete configmap c%d", i-4), "tick 1s",
		}[i%6])
		hashes = append(hashes, p.hash())
	}
	return hashes
}

// replayed returns the number of operations that the engine executed for an answer.
func replayed(answer map[string]any) int { return int(answer["replayed"].(float64)) }

// TestCheckpoints checks that undos execute a small part of a long log again, and that the worlds are those of a replay.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	boot := []any{"controllers", []string{"*"}, "nodes", 1, "whole", true}
	p.must("boot", boot...)
	const lines, most = 360, 150
	hashes := typeMany(p, lines)
	kept := p.e.current.kept
	is.True(len(kept) > 1 && len(kept) < 6) // their number grows slowly
	for n := lines - 1; n > lines-20; n-- {
		if got := replayed(p.must("undo")); got > most {
			t.Fatalf("the undo to line %d executed %d lines again", n, got)
		}
		is.Equal(p.hash(), hashes[n-1])
	}
	p.do("kubectl get nodes") // in the place of the undone lines
	is.True(p.e.current.kept.newest(lines).done() <= lines-20)
	is.True(replayed(p.must("undo")) <= most)
	is.Equal(p.hash(), hashes[lines-20])
	is.True(replayed(p.must("seek", "n", 100)) <= 100)
	is.Equal(p.hash(), hashes[99])

	p.must("seek", "n", 250)
	p.must("fork", "n", 200)
	is.Equal(p.hash(), hashes[199])
	p.do("kubectl create configmap branch")
	p.must("branch", "branch", "0")
	is.Equal(p.hash(), hashes[249])
}

// TestCheckpointsOfALog checks that a page that boots with a long log executes few lines again for an undo, and that a view of the past
// does not, either.
func TestCheckpointsOfALog(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	boot := []any{"controllers", []string{"*"}, "nodes", 1, "whole", true}
	p := newPage(t)
	p.must("boot", boot...)
	hashes := typeMany(p, 360)
	q := newPage(t)
	q.must("boot", append(boot, "log", p.e.current.log)...)
	is.Equal(q.hash(), hashes[359])
	for n := 359; n > 350; n-- {
		is.True(replayed(q.must("undo")) <= 150)
		is.Equal(q.hash(), hashes[n-1])
	}
	before := q.e.current.kept.newest(340)
	is.True(before != nil)
	q.data("clock", "n", 340)
	is.True(q.e.past.run.done() == 340)
	is.Equal(q.hash(), hashes[350]) // the page is where it was
}
