package kubelet

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/status"
)

// nanoTime is the format of the timestamps in logs: RFC 3339 with all nine fractional digits.
const nanoTime = "2006-01-02T15:04:05.000000000Z07:00"

// log returns the requested part of a container's output, and follows the output if requested (kubelet.GetKubeletContainerLogs).
func (t *target) log() (*Answer, *status.Status) {
	started, ended, id, s := t.attempt(t.is("previous"))
	if s != nil {
		return nil, s
	}
	l := t.selection()
	until := t.now
	if !ended.IsZero() && ended.Before(until) {
		until = ended
	}
	text := l.render(wrapped(t.c.program.output(started, started, until)), true)
	if !t.is("follow") || !ended.IsZero() {
		return &Answer{Text: append([]byte{}, text...)}, nil
	}
	session := t.nodes.session()
	session.say(false, text)
	t.tail(session, id, started, until, func(lines []printed) {
		session.say(false, l.render(lines, false))
		if l.spent {
			session.close(nil)
		}
	})
	return &Answer{Session: session}, nil
}

// attempt returns the start and end times and the ID of the container whose log is requested. The end is zero if the container is
// still running.
func (t *target) attempt(previous bool) (started, ended time.Time, id string, s *status.Status) {
	r, name, pod := t.c.run, t.c.name, t.w.pod.Name()
	waiting := r.State == "" || r.State == exited && r.Why != ""
	switch {
	case previous && waiting && r.ID != "":
		return r.Started, r.Finished, r.ID, nil
	case previous && r.Last == nil:
		return started, ended, "", status.BadRequest("previous terminated container %q in pod %q not found", name, pod)
	case previous:
		return r.Last.Started, r.Last.Finished, r.Last.ID, nil
	case r.State == running:
		return r.Started, time.Time{}, r.ID, nil
	case r.ID != "":
		return r.Started, r.Finished, r.ID, nil
	}
	why := r.Why
	switch why {
	case "":
		why = "ContainerCreating"
		if len(t.w.pod.List("spec", "initContainers")) > 0 {
			why = "PodInitializing"
		}
	case pullError:
		why = "image can't be pulled"
	case pullBackOff:
		why = "trying and failing to pull image"
	}
	return started, ended, "", status.BadRequest("container %q in pod %q is waiting to start: %v", name, pod, why)
}

// tail passes a container's output to a function, beginning with the first line after from, until the container ends. Then it ends the
// session.
func (t *target) tail(s *Session, id string, started, from time.Time, tell func([]printed)) {
	told := from // output up to this time has been sent
	pump := func() {
		now := t.nodes.schedule.Now()
		r, runs := t.same(id)
		until := now
		if !runs && r.ID == id && r.Finished.Before(now) {
			until = r.Finished
		}
		if until.After(told) {
			tell(wrapped(t.c.program.output(started, told.Add(1), until)))
			told = until
		}
		if !runs {
			s.close(nil)
		}
	}
	var wait func()
	wait = func() {
		if at := t.c.program.next(started, told); !at.IsZero() {
			s.after(at, func() {
				pump()
				if !s.ended {
					wait()
				}
			})
		}
	}
	t.k.follow(t.key, s, pump)
	wait()
}

// selection describes which part of a log is requested.
type selection struct {
	tail    int64 // number of lines from the end, or -1 for all
	limit   int64 // maximum number of bytes, or -1 for no limit
	since   time.Time
	stamped bool
	spent   bool // the limit has been reached
}

func (t *target) selection() *selection {
	l := &selection{tail: -1, limit: -1, stamped: t.is("timestamps")}
	if n, ok := t.number("tailLines"); ok {
		l.tail = n
	}
	if n, ok := t.number("limitBytes"); ok {
		l.limit = n
	}
	if n, ok := t.number("sinceSeconds"); ok {
		l.since = t.now.Add(-time.Duration(n) * time.Second)
	}
	if at, err := time.Parse(time.RFC3339, t.one("sinceTime")); err == nil {
		l.since = at
	}
	return l
}

// render returns the selected lines as text. If first is set, they are the lines that existed when the log was requested.
// tailLines applies only to them.
func (l *selection) render(lines []printed, first bool) string {
	if first && l.tail >= 0 && int64(len(lines)) > l.tail {
		lines = lines[int64(len(lines))-l.tail:]
	}
	var b strings.Builder
	for _, x := range lines {
		if x.at.Before(l.since) {
			continue
		}
		text := x.text
		if l.stamped {
			text = x.at.UTC().Format(nanoTime) + " " + text
		}
		if l.limit >= 0 {
			if int64(len(text)) >= l.limit {
				text, l.spent = text[:l.limit], true
			}
			l.limit -= int64(len(text))
		}
		b.WriteString(text)
	}
	return b.String()
}

// notRunning returns the response to a request that requires a running container.
func (t *target) notRunning() *Answer {
	return t.internal(fmt.Sprintf("unable to upgrade connection: container not found (%q)", t.c.name))
}
