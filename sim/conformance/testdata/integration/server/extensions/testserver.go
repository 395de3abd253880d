// Package testing replaces k8s.io/apiextensions-apiserver/pkg/cmd/server/testing: it has the same names, and starts a
// kube-apiserver, which serves CustomResourceDefinitions, too.
package testing

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	upstream "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"github.com/kubesim/kubesim/sim/conformance/testdata/integration/server/programs"
)

// The types of the upstream package.
type (
	TearDownFunc              = upstream.TearDownFunc
	TestServerInstanceOptions = upstream.TestServerInstanceOptions
	TestServer                = upstream.TestServer
	Logger                    = upstream.Logger
)

// NewDefaultTestServerOptions returns the options of a server for which a test gives none.
func NewDefaultTestServerOptions() *TestServerInstanceOptions {
	return upstream.NewDefaultTestServerOptions()
}

// StartTestServerOrDie starts a server; the test ends if it cannot.
func StartTestServerOrDie(t Logger, o *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	s, err := StartTestServer(t, o, flags, storage)
	if err != nil {
		t.Fatalf("failed to launch server: %v", err)
	}
	return &s
}

// StartTestServer starts a server with the flags of a test.
func StartTestServer(t Logger, _ *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) (TestServer, error) {
	dir, err := os.MkdirTemp("", "apiextensions-apiserver")
	if err != nil {
		return TestServer{}, err
	}
	s := TestServer{TmpDir: dir}
	if err := start(t, &s, flags, storage); err != nil {
		os.RemoveAll(dir)
		return TestServer{}, err
	}
	return s, nil
}

// delegated are flags of a server that delegates authentication and authorization to a kube-apiserver. A kube-apiserver does not
// have them.
var delegated = []string{"authentication-skip-lookup", "authentication-kubeconfig", "authorization-kubeconfig", "kubeconfig"}

func start(t Logger, s *TestServer, args []string, storage *storagebackend.Config) error {
	tb, ok := t.(featuregatetesting.TB)
	if !ok {
		return fmt.Errorf("%T cannot set feature gates", t)
	}
	registry, err := programs.NewRegistry()
	if err != nil {
		return err
	}
	flags, err := programs.GateFlags() // as the test has set them, before its flags do
	if err != nil {
		return err
	}
	s.ServerOpts = options.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	s.ServerOpts.ServerRunOptions.ComponentGlobalsRegistry = registry
	if storage != nil {
		s.ServerOpts.RecommendedOptions.Etcd.StorageConfig = *storage
	}
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.ServerOpts.AddFlags(set)
	given, err := programs.Parse(set, args)
	if err != nil {
		return err
	}
	if err := registry.Export(tb); err != nil {
		return err
	}
	given.Remove(delegated...)
	flags = append(flags, given...)
	flags.Default("service-cluster-ip-range", "10.0.0.0/16")
	if err := programs.AddServiceAccounts(&flags, s.TmpDir); err != nil {
		return err
	}
	etcd := s.ServerOpts.RecommendedOptions.Etcd.StorageConfig
	server, err := programs.Start(programs.Request{
		Label: name(t), Dir: s.TmpDir, Flags: flags, Etcd: etcd.Transport.ServerList, Prefix: etcd.Prefix,
	})
	if err != nil {
		return err
	}
	s.ClientConfig = server.Config
	s.ClientConfig.ContentType = "" // apiextensions-apiserver does not set it
	s.ServerOpts.RecommendedOptions.SecureServing.BindPort = server.Port
	s.ServerOpts.RecommendedOptions.SecureServing.ServerCert.CertKey.CertFile = server.CertFile
	s.TearDownFn = func() {
		server.Stop()
		os.RemoveAll(s.TmpDir)
	}
	return nil
}

// name returns the name of a test, for logs.
func name(t Logger) string {
	if n, ok := t.(interface{ Name() string }); ok {
		return n.Name()
	}
	return "server"
}
