// Package testing replaces k8s.io/kubernetes/cmd/kube-apiserver/app/testing: it has the same names, and starts a program.
package testing

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	upstream "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
	"k8s.io/kubernetes/test/utils/ktesting"

	"github.com/kubesim/kubesim/sim/conformance/testdata/integration/server/programs"
)

// The types of the upstream package.
type (
	TearDownFunc              = upstream.TearDownFunc
	TestServerInstanceOptions = upstream.TestServerInstanceOptions
	TestServer                = upstream.TestServer
	Logger                    = upstream.Logger
	ProxyCA                   = upstream.ProxyCA
)

// NewDefaultTestServerOptions returns the options of a server for which a test gives none.
func NewDefaultTestServerOptions() *TestServerInstanceOptions {
	return upstream.NewDefaultTestServerOptions()
}

// StartTestServerOrDie starts a kube-apiserver; the test ends if it cannot.
func StartTestServerOrDie(t testing.TB, o *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	s, err := StartTestServer(t, o, flags, storage)
	if err != nil {
		t.Fatalf("failed to launch server: %v", err)
	}
	return &s
}

// StartTestServer starts a kube-apiserver with flags over the etcd of storage.
func StartTestServer(t ktesting.TB, o *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) (TestServer, error) {
	if o == nil {
		o = NewDefaultTestServerOptions()
	}
	skipOthers(t, o)
	dir, err := os.MkdirTemp("", "kube-apiserver")
	if err != nil {
		return TestServer{}, err
	}
	s := TestServer{TmpDir: dir}
	if err := start(t, &s, o, flags, storage); err != nil {
		os.RemoveAll(dir)
		return TestServer{}, err
	}
	return s, nil
}

// skipOthers skips a test that needs what only a server in its own process can do.
func skipOthers(t ktesting.TB, o *TestServerInstanceOptions) {
	if o.StorageVersionWrapFunc != nil {
		t.Skipf("this test wraps the server's StorageVersionManager with a Go function")
	}
	binary := compatibility.DefaultKubeEffectiveVersionForTest().BinaryVersion()
	if v := o.BinaryVersion; v != "" {
		if wanted, err := version.Parse(v); err != nil || wanted.Minor() != binary.Minor() {
			t.Skipf("this test needs a program of version %s, not %v", v, binary)
		}
	}
}

func start(t ktesting.TB, s *TestServer, o *TestServerInstanceOptions, args []string, storage *storagebackend.Config) error {
	registry, err := programs.NewRegistry()
	if err != nil {
		return err
	}
	flags, err := programs.GateFlags() // as the test has set them, before its flags do
	if err != nil {
		return err
	}
	s.ServerOpts = options.NewServerRunOptions()
	s.ServerOpts.GenericServerRunOptions.ComponentGlobalsRegistry = registry
	s.ServerOpts.Etcd.StorageConfig = *storage
	stored := programs.Of(s.ServerOpts)
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	sets := s.ServerOpts.Flags()
	for _, name := range sets.Order {
		set.AddFlagSet(sets.FlagSets[name])
	}
	given, err := programs.Parse(set, args)
	if err != nil {
		return err
	}
	if err := registry.Export(t); err != nil {
		return err
	}
	for _, f := range stored {
		given.Default(f.Name, f.Value)
	}
	flags = append(flags, given...)
	if err := complete(&flags, s.TmpDir, o); err != nil {
		return err
	}
	server, err := programs.Start(programs.Request{
		Label: t.Name(), Dir: s.TmpDir, Flags: flags, NoHealth: o.SkipHealthzCheck,
		Etcd: s.ServerOpts.Etcd.StorageConfig.Transport.ServerList, Prefix: s.ServerOpts.Etcd.StorageConfig.Prefix,
	})
	if err != nil {
		return err
	}
	return fill(s, server, storage)
}

// complete adds the flags that upstream's package gives each server beside those of the test.
func complete(flags *programs.Flags, dir string, o *TestServerInstanceOptions) error {
	if o.RequestTimeout > 0 {
		flags.Default("request-timeout", o.RequestTimeout.String())
	}
	flags.Default("service-cluster-ip-range", "10.0.0.0/16")
	flags.Remove("service-account-signing-key-file", "service-account-issuer", "service-account-key-file")
	if err := programs.AddServiceAccounts(flags, dir); err != nil {
		return err
	}
	if !o.EnableCertAuth {
		return nil
	}
	ca := programs.CA{}
	if o.ProxyCA != nil {
		ca = programs.CA{Certificate: o.ProxyCA.ProxySigningCert, Key: o.ProxyCA.ProxySigningKey}
	}
	return programs.AddCertificates(flags, dir, ca, []string{"ash", "misty", "brock"})
}

// fill sets the fields of a server that tests may read.
func fill(s *TestServer, server *programs.Server, storage *storagebackend.Config) error {
	etcd, _, err := GetEtcdClients(storage.Transport)
	if err != nil {
		server.Stop()
		return fmt.Errorf("create etcd client: %w", err)
	}
	s.ClientConfig = server.Config
	s.ClientConfig.QPS, s.ClientConfig.Burst = 1000, 10000
	serving := s.ServerOpts.SecureServing
	serving.BindPort = server.Port
	serving.ServerCert.CertKey.CertFile = server.CertFile
	serving.ServerCert.CertDirectory = s.TmpDir
	if o := s.ServerOpts.GenericServerRunOptions; o.AdvertiseAddress == nil {
		o.AdvertiseAddress = serving.BindAddress
	}
	s.EtcdClient, s.EtcdStoragePrefix = etcd, storage.Prefix
	s.TearDownFn = func() {
		server.Stop()
		etcd.Close()
		os.RemoveAll(s.TmpDir)
	}
	return nil
}

// GetEtcdClients returns clients of the etcd that an API server stores its objects in.
func GetEtcdClients(c storagebackend.TransportConfig) (*clientv3.Client, clientv3.KV, error) {
	config := clientv3.Config{Endpoints: slices.Clone(c.ServerList), DialTimeout: 20 * time.Second, DialOptions: []grpc.DialOption{grpc.WithBlock()}}
	if c.CertFile != "" || c.KeyFile != "" || c.TrustedCAFile != "" {
		info := transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.TrustedCAFile}
		var err error
		if config.TLS, err = info.ClientConfig(); err != nil {
			return nil, nil, err
		}
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, nil, err
	}
	return client, clientv3.NewKV(client), nil
}
