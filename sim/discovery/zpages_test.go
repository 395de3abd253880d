package discovery

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// timed is a Host with a settable time.
type timed struct {
	StandaloneHost
	now time.Time
}

func (h *timed) Now() time.Time { return h.now }

func TestPages(t *testing.T) {
	is := is.New(t)
	d := documents(t)
	now := &timed{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	d = New(Options{Table: d.o.Table, Schema: d.o.Schema, Version: d.o.Version, Statusz: true, Flags: map[string]string{"v": "3"},
		Host: now})
	now.now = now.now.Add(25*time.Hour + time.Minute + time.Second)
	is.Equal(string(get(t, d, "/statusz").Body), "\napiserver statusz\nWarning: This endpoint is not meant to be machine parseable, "+
		"has no formatting compatibility guarantees and is for debugging purposes only.\n\n"+
		"Started: Thu Jan  1 00:00:00 UTC 2026\nUp: 25 hr 01 min 01 sec\nGo version: go1.26\nBinary version: 1.36.3\n"+
		"Emulation version: 1.36\nPaths: /healthz /livez /metrics /readyz /statusz /version\n")
	_, served := d.Serve(Request{Method: "GET", Path: "/flagz"})
	is.True(!served) // its gate is off
	d.o.Flagz = true
	text := string(get(t, d, "/flagz").Body)
	is.True(strings.Contains(text, "\nevent-ttl=1h0m0s\n"))
	is.True(strings.Contains(text, "\nv=3\n")) // not the default
}

// The service level metrics contain the latest result of each health check and the number of each result.
func TestServiceLevel(t *testing.T) {
	is := is.New(t)
	d := documents(t)
	get(t, d, "/readyz")
	get(t, d, "/readyz?exclude=etcd")
	get(t, d, "/readyz/etcd") // does not count
	d.o.Host = checked(func(name string) error { return map[string]error{"etcd": errors.New("down")}[name] })
	get(t, d, "/livez")
	text := string(get(t, d, "/metrics/slis").Body)
	for _, line := range []string{
		`kubernetes_healthcheck{name="etcd",type="livez"} 0`,
		`kubernetes_healthcheck{name="etcd",type="readyz"} 1`,
		`kubernetes_healthchecks_total{name="etcd",status="error",type="livez"} 1`,
		`kubernetes_healthchecks_total{name="etcd",status="success",type="livez"} 1`, // when it started
		`kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 2`,
		`kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 3`,
		`process_start_time_seconds 0`,
	} {
		is.True(strings.Contains(text, "\n"+line+"\n"))
	}
	a, _ := d.Serve(Request{Method: "DELETE", Path: "/metrics/slis"})
	is.Equal(string(a.Body), "metrics reset\n")
	is.True(!strings.Contains(string(get(t, d, "/metrics/slis").Body), "kubernetes_healthcheck")) // forgotten
}
