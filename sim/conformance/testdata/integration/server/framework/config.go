package framework

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/kubesim/kubesim/sim/conformance/testdata/integration/server/programs"
)

// noAuthorizer and noAdmission are the values in a configuration until a test replaces them.
type (
	noAuthorizer struct{ authorizer.Authorizer }
	noAdmission  struct{ admission.Interface }
)

// fromConfig returns the flags for the changes of a test to the configuration of the server. A test that adds Go code to it is skipped,
// because a program cannot run it.
func fromConfig(t testing.TB, opts *options.ServerRunOptions, modify func(*controlplane.Config)) (flags programs.Flags) {
	t.Helper()
	config, err := newConfig(opts)
	if err != nil {
		t.Fatal(err)
	}
	before := *config.ControlPlane.Generic
	authorizing, admitting := before.Authorization.Authorizer, before.AdmissionControl
	if err := call(modify, config); err != nil {
		t.Skipf("this test needs a server in its process: %v", err)
	}
	generic := config.ControlPlane.Generic
	switch {
	case generic.Authorization.Authorizer != authorizing:
		t.Skip("this test puts an authorizer of its own into the server")
	case generic.Authentication.Authenticator != nil:
		t.Skip("this test puts an authenticator of its own into the server")
	case generic.AdmissionControl != admitting:
		t.Skip("this test puts an admission plugin of its own into the server")
	case generic.AuditBackend != nil || generic.AuditPolicyRuleEvaluator != nil:
		t.Skip("this test puts an audit backend of its own into the server")
	case generic.RequestInfoResolver != nil:
		t.Skip("this test puts a RequestInfoResolver of its own into the server")
	case generic.OpenAPIConfig != nil || generic.OpenAPIV3Config != nil:
		t.Skip("this test puts OpenAPI definitions of its own into the server")
	case config.Extra.RepairServicesInterval != 0:
		t.Skip("this test changes how often the server repairs services, for which there is no flag")
	}
	if config.Extra.EndpointReconcilerType != "" {
		flags.Set("endpoint-reconciler-type", string(config.Extra.EndpointReconcilerType))
	}
	if most := config.ControlPlane.Extra.ServiceAccountMaxExpiration; most != 0 {
		flags.Set("service-account-max-token-expiration", most.String())
		flags.Set("service-account-extend-token-expiration", fmt.Sprint(config.ControlPlane.Extra.ExtendExpiration))
	}
	return append(flags, served(config.ControlPlane.Extra.APIResourceConfigSource)...)
}

// newConfig returns a configuration with what tests read of it.
func newConfig(opts *options.ServerRunOptions) (*controlplane.Config, error) {
	generic := genericapiserver.NewConfig(legacyscheme.Codecs)
	generic.Authorization.Authorizer = noAuthorizer{}
	generic.AdmissionControl = noAdmission{}
	generic.LoopbackClientConfig = &rest.Config{}
	config := &controlplane.Config{ControlPlane: controlplaneapiserver.Config{Generic: generic}}
	key, err := keyutil.PrivateKeyFromFile(opts.ServiceAccountSigningKeyFile)
	if err != nil {
		return config, nil //nolint:nilerr // the server will say so
	}
	config.ControlPlane.Extra.ServiceAccountIssuer, err = serviceaccount.JWTTokenGenerator(opts.Authentication.ServiceAccounts.Issuers[0], key)
	return config, err
}

// call calls a function of a test that may need what only a server in this process has.
func call(modify func(*controlplane.Config), config *controlplane.Config) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New(fmt.Sprint(r))
		}
	}()
	modify(config)
	return nil
}

// served returns the flags for the versions and resources whose setting differs from the default.
func served(source serverstorage.APIResourceConfigSource) (flags programs.Flags) {
	c, ok := source.(*serverstorage.ResourceConfig)
	if !ok || c == nil {
		return nil
	}
	defaults := controlplane.DefaultAPIResourceConfigSource()
	on := map[string]bool{}
	for gv, enabled := range c.GroupVersionConfigs {
		if enabled != defaults.GroupVersionConfigs[gv] {
			on[gv.String()] = enabled
		}
	}
	for gvr, enabled := range c.ResourceConfigs {
		if enabled != defaults.ResourceConfigs[gvr] {
			on[gvr.GroupVersion().String()+"/"+gvr.Resource] = enabled
		}
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		flags = append(flags, programs.Flag{Name: "runtime-config", Value: fmt.Sprintf("%s=%t", name, on[name])})
	}
	return flags
}
