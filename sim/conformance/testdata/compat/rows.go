package main

import (
	"context"
	"strings"
)

// row is a client or a program, in one version.
type row struct {
	name, version string
	run           func(ctx context.Context, f flags, r row) error
	remote        bool   // it can also run against another server
	known         string // why it does not pass
}

// minors are the releases of Kubernetes' client libraries. All rows of one minor are built as one module, because they share nearly
// all dependencies.
var minors = []struct{ kubernetes, runtime, kubectl string }{
	{"0.32.13", "0.20.4", "0.32.3"},
	{"0.33.13", "0.21.0", "0.33.13"},
	{"0.34.13", "0.22.5", "0.34.13"},
	{"0.35.10", "0.23.3", "0.35.10"},
	{"0.36.3", "0.24.1", "0.36.3"},
	{"0.37.2", "0.25.2", "0.37.2"},
}

// rows are in the order of the table.
var rows = all()

func all() (rows []row) {
	for i, m := range minors {
		rows = append(rows, row{name: "client-go " + minor(m.kubernetes), version: m.kubernetes, run: goTests(i, "clientgo")})
	}
	for i, m := range minors {
		rows = append(rows, row{name: "controller-runtime " + minor(m.runtime), version: m.runtime, run: goTests(i, "manager")})
	}
	for i, m := range minors {
		rows = append(rows, row{name: "kubectl " + minor("1"+strings.TrimPrefix(m.kubectl, "0")), version: "1" + strings.TrimPrefix(m.kubectl, "0"), run: kubectl(i), remote: true})
	}
	return append(rows,
		row{name: "helm 3", version: "3.22.0", run: helm("helm.sh/helm/v3"), remote: true},
		row{name: "helm 4", version: "4.3.1", run: helm("helm.sh/helm/v4"), remote: true},
		row{name: "@kubernetes/client-node 1", version: "1.4.0", run: node, remote: true},
		row{name: "@kubernetes/client-node 2", version: "2.0.1", run: node, remote: true},
		row{name: "kubernetes (Python)", version: "22.6.0", run: python, remote: true},
		row{name: "kube-controller-manager", version: release, run: manager},
		row{name: "kube-scheduler", version: release, run: scheduler},
	)
}

// minor is a version without its patch.
func minor(version string) string { return version[:strings.LastIndex(version, ".")] }
