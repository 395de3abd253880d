package discovery

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// metrics serves /metrics with the metrics that are meaningful in a simulator. DELETE, which resets counters, succeeds, although
// there are none.
func (d *Documents) metrics(r *Request) *Answer {
	v := &d.o.Version
	return d.exposition(r, d.o.Host.Metrics()+d.seats()+validations+fmt.Sprintf("# HELP kubernetes_build_info [BETA] A metric with a constant '1' value labeled by major, minor, git version, "+
		"git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.\n"+
		"# TYPE kubernetes_build_info gauge\n"+
		"kubernetes_build_info{build_date=%q,compiler=%q,git_commit=%q,git_tree_state=\"\",git_version=%q,go_version=%q,major=%q,minor=%q,platform=%q} 1\n",
		buildDate, compiler, gitCommit, v.GitVersion, goVersion, v.Major, v.Minor, platform))
}

// validations are the metrics for differences between declarative and handwritten validation in kube-apiserver. They are always
// zero, because the simulator implements each rule only once. They exist because Kubernetes' end-to-end tests read them.
const validations = "# HELP apiserver_validation_declarative_validation_mismatch_total [BETA] Number of times declarative validation results " +
	"differed from handwritten validation results for core types.\n" +
	"# TYPE apiserver_validation_declarative_validation_mismatch_total counter\n" +
	"apiserver_validation_declarative_validation_mismatch_total 0\n" +
	"# HELP apiserver_validation_declarative_validation_panic_total [BETA] Number of times declarative validation has panicked during validation.\n" +
	"# TYPE apiserver_validation_declarative_validation_panic_total counter\n" +
	"apiserver_validation_declarative_validation_panic_total 0\n"

// seats returns the metric for the number of seats of each priority level, or "" if there are no levels.
func (d *Documents) seats() string {
	all := d.o.Host.Seats()
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# HELP apiserver_flowcontrol_nominal_limit_seats [BETA] Nominal number of execution seats configured for each priority level\n" +
		"# TYPE apiserver_flowcontrol_nominal_limit_seats gauge\n")
	for _, level := range object.SortedKeys(all) {
		fmt.Fprintf(&b, "apiserver_flowcontrol_nominal_limit_seats{priority_level=%q} %d\n", level, all[level])
	}
	return b.String()
}

// probe identifies one result of a check at a health endpoint.
type probe struct {
	check, endpoint string
	ok              bool
}

// serviceLevel serves /metrics/slis with the results of health checks (KEP-3466). DELETE resets them.
func (d *Documents) serviceLevel(r *Request) *Answer {
	var now, counts strings.Builder
	for _, check := range sorted(allChecks()) {
		for _, e := range endpoints {
			if healthy, asked := d.healthy[probe{check: check, endpoint: e.name}]; asked {
				value := 0
				if healthy {
					value = 1
				}
				fmt.Fprintf(&now, "kubernetes_healthcheck{name=%q,type=%q} %d\n", check, e.name, value)
			}
		}
		for _, ok := range []bool{false, true} {
			word := map[bool]string{false: "error", true: "success"}[ok]
			for _, e := range endpoints {
				if n := d.probes[probe{check, e.name, ok}]; n > 0 {
					fmt.Fprintf(&counts, "kubernetes_healthchecks_total{name=%q,status=%q,type=%q} %d\n", check, word, e.name, n)
				}
			}
		}
	}
	var b strings.Builder
	if now.Len() > 0 {
		b.WriteString("# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.\n" +
			"# TYPE kubernetes_healthcheck gauge\n" + now.String() +
			"# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.\n" +
			"# TYPE kubernetes_healthchecks_total counter\n" + counts.String())
	}
	b.WriteString("# HELP process_start_time_seconds [ALPHA] Start time of the process since unix epoch in seconds.\n" +
		"# TYPE process_start_time_seconds gauge\n" +
		"process_start_time_seconds " + strconv.FormatFloat(float64(d.started.UnixMilli())/1000, 'g', -1, 64) + "\n")
	if r.Method == wire.MethodDelete {
		clear(d.probes)
		clear(d.healthy)
	}
	return d.exposition(r, b.String())
}

// allChecks returns the names of all health checks, some of them twice.
func allChecks() []string {
	var all []string
	for _, e := range endpoints {
		all = append(all, e.checks...)
	}
	return all
}

// exposition returns a response in the Prometheus text format. Even a short response is compressed if the client accepts gzip.
func (d *Documents) exposition(r *Request, body string) *Answer {
	if r.Method == wire.MethodDelete {
		return plain(wire.StatusOK, "metrics reset\n")
	}
	a := &Answer{Code: wire.StatusOK, Body: []byte(body), Header: wire.Header{
		"Content-Type":            {"text/plain; version=0.0.4; charset=utf-8; escaping=underscores"},
		"Process-Start-Time-Unix": {strconv.FormatInt(d.started.Unix(), 10)},
	}}
	if acceptsGzip(r.Header.Get("Accept-Encoding"), true) {
		a.Body = pack(a.Body)
		a.Header.Set("Content-Encoding", "gzip")
	}
	return a
}
