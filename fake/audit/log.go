// Package audit writes the audit log of an API server (Kubernetes documentation, "Auditing").
//
//	policy file ─▶ Policy ─ decide ─▶ the level of a request
//	                                      │
//	apiserver ─ Audit ─▶ Event ─ Reached ─┴─▶ one line of JSON per stage ─▶ file, io.Writer
//
// The events are those of kube-apiserver. Times are those of the Cluster's clock.
package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/config"
)

// Log is an audit log.
type Log struct {
	policy *Policy
	legacy bool
	out    io.Writer
	file   *os.File // if out is a file
}

// formats are the formats of the log.
var formats = []string{"legacy", "json"}

// Open opens the log. If there is no policy, or no output is configured, it returns nil without an error. Errors are those of
// kube-apiserver.
func Open(c *config.Audit) (*Log, error) {
	if c.LogFormat != "" && !slices.Contains(formats, c.LogFormat) {
		return nil, fmt.Errorf("invalid audit log format %s, allowed formats are %q", c.LogFormat, strings.Join(formats, ","))
	}
	l := &Log{legacy: c.LogFormat == "legacy", out: c.Log}
	var err error
	switch {
	case c.Policy != "":
		l.policy, err = parsePolicy([]byte(c.Policy))
	case c.PolicyFile != "":
		l.policy, err = readPolicy(c.PolicyFile)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case l.out != nil || c.LogPath == "":
	case c.LogPath == "-":
		l.out = os.Stdout
	default:
		if l.file, err = openFile(c.LogPath); err != nil {
			return nil, fmt.Errorf("ensureLogFile: %w", err)
		}
		l.out = l.file
	}
	if l.policy == nil || l.out == nil {
		l.Close()
		return nil, nil
	}
	return l, nil
}

// openFile opens a file for appending. It creates the directory.
func openFile(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// Close closes the file. It may be called for a nil Log.
func (l *Log) Close() {
	if l != nil && l.file != nil {
		_ = l.file.Close() // every event was written completely
	}
}

// Auditor returns the log, or nil if there is none.
func (l *Log) Auditor() apiserver.Auditor {
	if l == nil {
		return nil
	}
	return l
}

// request is the event of one request.
type request struct {
	*Event
	decision
	log      *Log
	exchange *apiserver.Exchange
}

// Audit implements apiserver.Auditor.
func (l *Log) Audit(e *apiserver.Exchange, at auth.Attributes) *apiserver.Audit {
	d := l.policy.decide(&at)
	if d.level == None {
		return nil
	}
	return &apiserver.Audit{Requests: true, Responses: d.level == RequestResponse, Recorder: &request{newEvent(e, &at, &d), d, l, e}}
}

// Reached implements apiserver.Recorder.
func (r *request) Reached(a *apiserver.Audit, stage apiserver.Stage) {
	if slices.Contains(r.omitStages, string(stage)) {
		return
	}
	r.fill(a, &r.decision)
	r.Stage, r.StageTimestamp = stage, microTime{r.exchange.Now()}
	r.log.write(r.Event)
}

// write writes an event. As in kube-apiserver, an event that cannot be encoded is lost, such as one with a patch that is not JSON.
func (l *Log) write(v *Event) {
	if l.legacy {
		_, _ = io.WriteString(l.out, v.legacy()+"\n") // as in the mode batch, errors do not reach clients
		return
	}
	if text, err := json.Marshal(v); err == nil {
		_, _ = l.out.Write(append(text, '\n'))
	}
}
