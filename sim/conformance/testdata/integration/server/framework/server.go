package framework

import (
	"context"
	"os"
	"path"
	"testing"

	"github.com/google/uuid"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/kubesim/kubesim/sim/conformance/testdata/integration/server/programs"
)

// StartTestServer starts a kube-apiserver with the options of a test; the test ends if it cannot.
func StartTestServer(ctx context.Context, t testing.TB, setup TestServerSetup) (client.Interface, *rest.Config, TearDownFunc) {
	t.Helper()
	dir, err := os.MkdirTemp("", "test-integration")
	if err != nil {
		t.Fatal(err)
	}
	opts, registry, err := newOptions(dir)
	if err != nil {
		t.Fatal(err)
	}
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(opts)
	}
	gates, err := programs.GateFlags()
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.Export(t); err != nil {
		t.Fatal(err)
	}
	flags := append(gates, programs.Of(opts)...)
	if setup.ModifyServerConfig != nil {
		flags = append(flags, fromConfig(t, opts, setup.ModifyServerConfig)...)
	}
	server, err := programs.Start(programs.Request{
		Label: t.Name(), Dir: dir, Flags: flags, Etcd: opts.Etcd.StorageConfig.Transport.ServerList, Prefix: opts.Etcd.StorageConfig.Prefix,
	})
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config
	config.CAData, config.CAFile = nil, server.CertFile
	clients, err := client.NewForConfig(config)
	if err != nil {
		server.Stop()
		t.Fatal(err)
	}
	return clients, config, func() {
		server.Stop()
		os.RemoveAll(dir)
	}
}

// newOptions returns the options that upstream's package gives each server before the test changes them.
func newOptions(dir string) (*options.ServerRunOptions, *programs.Registry, error) {
	registry, err := programs.NewRegistry()
	if err != nil {
		return nil, nil, err
	}
	key, err := programs.ServiceAccountKeyFile(dir)
	if err != nil {
		return nil, nil, err
	}
	var files programs.Flags
	if err := programs.AddCertificates(&files, dir, programs.CA{}, []string{"kube-aggregator"}); err != nil {
		return nil, nil, err
	}
	o := options.NewServerRunOptions()
	o.GenericServerRunOptions.ComponentGlobalsRegistry = registry
	o.SecureServing.BindAddress = []byte{127, 0, 0, 1}
	o.SecureServing.ServerCert.CertDirectory = dir
	o.ServiceAccountSigningKeyFile = key
	o.Etcd.StorageConfig.Prefix = path.Join("/", uuid.NewString(), "registry")
	o.Etcd.StorageConfig.Transport.ServerList = []string{GetEtcdURL()}
	o.ServiceClusterIPRanges = "10.0.0.0/24"
	headers := o.Authentication.RequestHeader
	headers.UsernameHeaders, headers.GroupHeaders, headers.ExtraHeaderPrefixes = []string{"X-Remote-User"}, []string{"X-Remote-Group"}, []string{"X-Remote-Extra-"}
	headers.AllowedNames = []string{"kube-aggregator"}
	headers.ClientCAFile = files.Last("requestheader-client-ca-file")
	o.Authentication.ClientCert.ClientCA = files.Last("client-ca-file")
	o.Authentication.APIAudiences = []string{programs.Issuer}
	o.Authentication.ServiceAccounts.Issuers = []string{programs.Issuer}
	o.Authentication.ServiceAccounts.KeyFiles = []string{key}
	o.Authorization.Modes = []string{"Node", "RBAC"}
	return o, registry, nil
}
