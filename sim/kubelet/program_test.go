package kubelet

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/object"
)

// TestPause checks that the pause between restarts doubles from 10 s to 5 min, and is reset after ten minutes without a failure.
func TestPause(t *testing.T) {
	is := is.New(t)
	var p pause
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []time.Duration
	for range 7 {
		if at := p.until(now); !at.IsZero() {
			now = at
		}
		p.next(now)
		all = append(all, p.Length/time.Second)
	}
	is.Equal(all, []time.Duration{10, 20, 40, 80, 160, 300, 300})
	later := now.Add(10*time.Minute + 1)
	is.True(p.until(later).IsZero())
	p.next(later)
	is.Equal(p.Length, pauseMin)
}

// TestOutputOfEvery checks that any part of a log of repeated lines has the expected number of lines.
func TestOutputOfEvery(t *testing.T) {
	is := is.New(t)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for after := range 4 {
		for every := 1; every < 5; every++ {
			p := program{Image: images.Image{Log: []images.Line{{Text: "x", After: time.Duration(after) * time.Second, Every: time.Duration(every) * time.Second}}}}
			for from := range 10 {
				for to := from; to < 12; to++ {
					want := 0
					for at := after; at <= to; at += every {
						if at >= from {
							want++
						}
					}
					got := p.output(start, start.Add(time.Duration(from)*time.Second), start.Add(time.Duration(to)*time.Second))
					is.Equal(len(got), want)
				}
			}
			next := p.next(start, start.Add(7*time.Second))
			is.True(next.After(start.Add(7*time.Second)) && (next.Sub(start)/time.Second-time.Duration(after))%time.Duration(every) == 0)
		}
	}
}

// TestTask checks that an unknown program of a task succeeds after a second, unless an annotation describes its end, and that other
// programs, which are servers, run forever.
func TestTask(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := object.Object{"spec": map[string]any{"restartPolicy": "OnFailure"}, "metadata": map[string]any{"ownerReferences": []any{
		map[string]any{"kind": "Job", "controller": true}}}}
	bare := object.Object{"spec": map[string]any{"restartPolicy": "Never"}}
	server := object.Object{"spec": map[string]any{"restartPolicy": "Always"}, "metadata": pod["metadata"]}
	long := object.Object{"spec": pod["spec"], "metadata": map[string]any{"ownerReferences": pod.List("metadata", "ownerReferences"),
		"annotations": map[string]any{"kubesim.io/exit-after": "1m", "kubesim.io/exit-code": "2"}}}
	for _, test := range []struct {
		name      string
		pod       object.Object
		container object.Object
		after     time.Duration
		code      int
		ends      bool
	}{
		{"the program of an image", pod, object.Object{"image": "example.com/migrate"}, time.Second, 0, true},
		{"an unknown command", pod, object.Object{"image": "example.com/migrate", "command": []any{"/migrate", "up"}}, time.Second, 0, true},
		{"a known command", pod, object.Object{"image": "busybox", "command": []any{"sh", "-c", "sleep 5; exit 3"}}, 5 * time.Second, 3, true},
		{"an annotation", long, object.Object{"image": "example.com/migrate"}, time.Minute, 2, true},
		{"a shell with input", pod, object.Object{"image": "example.com/x", "stdin": true, "command": []any{"sh"}}, 0, 0, false},
		{"a pod without a controller", bare, object.Object{"image": "nginx"}, 0, 0, false},
		{"a server", server, object.Object{"image": "nginx"}, 0, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			p, err := (&Kubelet{}).programOf(resolver{}, test.pod, test.container, completes(test.pod))
			is.NoErr(err)
			at, code, ends := p.end(start, stepsMin)
			is.Equal(ends, test.ends)
			if ends {
				is.Equal(at.Sub(start), test.after)
				is.Equal(code, test.code)
			}
		})
	}
}
