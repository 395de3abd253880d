// Package framework replaces k8s.io/kubernetes/test/integration/framework: it has the names that tests use, and starts programs.
// Functions that start nothing are upstream's own.
package framework

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"k8s.io/klog/v2"
	upstream "k8s.io/kubernetes/test/integration/framework"

	"github.com/kubesim/kubesim/sim/conformance/testdata/integration/server/programs"
)

// The types of the upstream package.
type (
	TestServerSetup = upstream.TestServerSetup
	TearDownFunc    = upstream.TearDownFunc
)

// UnprivilegedUserToken is the token of a user without rights.
const UnprivilegedUserToken = upstream.UnprivilegedUserToken

// The functions of the upstream package that start no server.
var (
	AssertRequestResponseAsCBOR    = upstream.AssertRequestResponseAsCBOR
	CreateNamespaceOrDie           = upstream.CreateNamespaceOrDie
	DefaultEtcdOptions             = upstream.DefaultEtcdOptions
	DefaultOpenAPIConfig           = upstream.DefaultOpenAPIConfig
	DefaultOpenAPIV3Config         = upstream.DefaultOpenAPIV3Config
	DefaultTestServerFlags         = upstream.DefaultTestServerFlags
	DeleteNamespaceOrDie           = upstream.DeleteNamespaceOrDie
	Filter                         = upstream.Filter
	GetEtcdURL                     = upstream.GetEtcdURL
	GoleakCheck                    = upstream.GoleakCheck
	IgnoreBackgroundGoroutines     = upstream.IgnoreBackgroundGoroutines
	IsConditionSetAsExpected       = upstream.IsConditionSetAsExpected
	IsConditionSetAsExpectedSilent = upstream.IsConditionSetAsExpectedSilent
	IsNodeReady                    = upstream.IsNodeReady
	IsNodeSchedulable              = upstream.IsNodeSchedulable
	NewTBWriter                    = upstream.NewTBWriter
	RedirectKlog                   = upstream.RedirectKlog
	SharedEtcd                     = upstream.SharedEtcd
)

// etcdVariable is where upstream's GetEtcdURL, and the fixtures of apiextensions-apiserver, find the URL.
const etcdVariable = "KUBE_INTEGRATION_ETCD_URL"

// EtcdMain runs the tests of a package over one etcd. Unlike upstream's it does not check for leaked goroutines, because there is no
// server in this process.
func EtcdMain(tests func() int) {
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		os.Exit(tests()) // none is run
	}
	url, stop, err := programs.RunEtcd("etcd")
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot run integration tests:", err)
		os.Exit(1)
	}
	os.Setenv(etcdVariable, url)
	result := tests()
	stop()
	os.Exit(result)
}

// RunCustomEtcd starts another etcd.
func RunCustomEtcd(_ klog.Logger, dataDir string, flags []string) (url string, stop func(), err error) {
	return programs.RunEtcd(dataDir, flags...)
}

// StartEtcd starts an etcd for a test, or a benchmark, unless one runs and force is false.
func StartEtcd(_ klog.Logger, t testing.TB, force bool) {
	if os.Getenv(etcdVariable) != "" && !force {
		return
	}
	url, stop, err := programs.RunEtcd("etcd")
	if err != nil {
		t.Fatalf("unable to start etcd: %v", err)
	}
	t.Setenv(etcdVariable, url)
	t.Cleanup(stop)
}
