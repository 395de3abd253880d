package discovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/wire"
)

// endpoint is a health endpoint. Its checks run in the given order.
type endpoint struct {
	name   string
	checks []string
}

var endpoints = []endpoint{
	{"healthz", slices.Concat(lifeChecks, hookChecks)},
	{"livez", slices.Concat(lifeChecks, hookChecks)},
	{"readyz", slices.Concat([]string{"ping", "log", "etcd"}, []string{"etcd-readiness", "informer-sync"}, hookChecks, []string{"shutdown"})},
}

var lifeChecks = []string{"ping", "log", "loopback-serving-certificate", "etcd"}

// hookChecks are the checks of components that the simulator lacks. They always succeed, but people and scripts expect them in the
// output.
var hookChecks = []string{
	"poststarthook/start-apiserver-admission-initializer",
	"poststarthook/generic-apiserver-start-informers",
	"poststarthook/priority-and-fairness-config-consumer",
	"poststarthook/priority-and-fairness-filter",
	"poststarthook/storage-object-count-tracker-hook",
	"poststarthook/start-apiextensions-informers",
	"poststarthook/start-apiextensions-controllers",
	"poststarthook/crd-informer-synced",
	"poststarthook/start-system-namespaces-controller",
	"poststarthook/peer-endpoint-reconciler-controller",
	"poststarthook/start-cluster-authentication-info-controller",
	"poststarthook/start-kube-apiserver-identity-lease-controller",
	"poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
	"poststarthook/storage-readiness",
	"poststarthook/start-legacy-token-tracking-controller",
	"poststarthook/start-service-ip-repair-controllers",
	"poststarthook/rbac/bootstrap-roles",
	"poststarthook/scheduling/bootstrap-system-priority-classes",
	"poststarthook/priority-and-fairness-config-producer",
	"poststarthook/bootstrap-controller",
	"poststarthook/start-kubernetes-service-cidr-controller",
	"poststarthook/start-kube-aggregator-informers",
	"poststarthook/apiservice-status-local-available-controller",
	"poststarthook/apiservice-status-remote-available-controller",
	"poststarthook/apiservice-registration-controller",
	"poststarthook/apiservice-discovery-controller",
	"poststarthook/kube-apiserver-autoregistration",
	"autoregister-completion",
	"poststarthook/apiservice-openapi-controller",
	"poststarthook/apiservice-openapiv3-controller",
}

// health serves /healthz, /livez, /readyz and the individual checks below them, with any method. It returns nil for any other path.
// See "Kubernetes API health endpoints" in the Kubernetes documentation.
func (d *Documents) health(r *Request) *Answer {
	for i := range endpoints {
		e := &endpoints[i]
		rest, ok := strings.CutPrefix(r.Path, "/"+e.name)
		if !ok {
			continue
		}
		e = d.withHostChecks(e)
		if rest == "" {
			return d.allChecks(e, r)
		}
		if check, ok := strings.CutPrefix(rest, "/"); ok && slices.Contains(e.checks, check) {
			return d.oneCheck(check)
		}
	}
	return nil
}

// withHostChecks returns the endpoint with the checks of the Host. They do not belong to /livez, because a restart of the server does not
// help against them (k8s.io/apiserver/pkg/server/options.addHealthChecksWithoutLivez).
func (d *Documents) withHostChecks(e *endpoint) *endpoint {
	more := d.o.Host.Checks()
	if len(more) == 0 || e.name == "livez" {
		return e
	}
	return &endpoint{e.name, slices.Concat(e.checks, more)}
}

func (d *Documents) oneCheck(name string) *Answer {
	if err := d.o.Host.Check(name); err != nil {
		return text(wire.StatusInternalServerError, fmt.Sprintf("internal server error: %v\n", err))
	}
	return plain(wire.StatusOK, "ok")
}

// allChecks returns the combined result of an endpoint's checks, except for the checks that the client excludes. The response lists
// each check if it is verbose or if a check fails.
func (d *Documents) allChecks(e *endpoint, r *Request) *Answer {
	excluded := r.Query["exclude"]
	lines, bad := d.runChecks(e, excluded)
	var unknown []string
	for _, name := range sorted(excluded) {
		if !slices.Contains(e.checks, name) {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	if unknown != nil {
		lines += fmt.Sprintf("warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(unknown, ","))
	}
	switch {
	case bad:
		return text(wire.StatusInternalServerError, lines+e.name+" check failed\n")
	case r.Query.Has("verbose"):
		return text(wire.StatusOK, lines+e.name+" check passed\n")
	}
	return text(wire.StatusOK, "ok")
}

// runChecks runs the checks of an endpoint, except for the excluded ones, and counts the results.
func (d *Documents) runChecks(e *endpoint, excluded []string) (lines string, bad bool) {
	var b strings.Builder
	for _, name := range e.checks {
		if slices.Contains(excluded, name) {
			fmt.Fprintf(&b, "[+]%s excluded: ok\n", name)
			continue
		}
		err := d.o.Host.Check(name)
		d.healthy[probe{check: name, endpoint: e.name}] = err == nil
		d.probes[probe{name, e.name, err == nil}]++
		if err != nil {
			bad = true
			fmt.Fprintf(&b, "[-]%s failed: reason withheld\n", name)
		} else {
			fmt.Fprintf(&b, "[+]%s ok\n", name)
		}
	}
	return b.String(), bad
}

// sorted returns a sorted copy of the list without duplicates.
func sorted(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
