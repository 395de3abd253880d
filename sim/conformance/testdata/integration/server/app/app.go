// Package app replaces k8s.io/kubernetes/cmd/kube-apiserver/app, for the one file of upstream's tests that builds a server by itself:
// here the chain of handlers is a program.
package app

import (
	"context"
	"os"

	"k8s.io/client-go/rest"
	upstream "k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/kubesim/kubesim/sim/conformance/testdata/integration/server/programs"
)

// SetServiceResolverForTests is the upstream function. It has no effect on a program, so tests that need it fail with the real
// programs, too.
var SetServiceResolverForTests = upstream.SetServiceResolverForTests

// Config is the configuration of a server.
type Config struct{ options options.CompletedOptions }

// Chain is a server that has been started.
type Chain struct {
	GenericAPIServer struct{ LoopbackClientConfig *rest.Config }

	stop func()
}

// NewConfig returns the configuration for options.
func NewConfig(o options.CompletedOptions) (*Config, error) { return &Config{o}, nil }

// Complete returns the configuration.
func (c *Config) Complete() (*Config, error) { return c, nil }

// CreateServerChain starts the program.
func CreateServerChain(c *Config) (*Chain, error) {
	dir, err := os.MkdirTemp("", "kube-apiserver")
	if err != nil {
		return nil, err
	}
	flags, err := c.flags()
	if err != nil {
		return nil, err
	}
	storage := c.options.Etcd.StorageConfig
	s, err := programs.Start(programs.Request{Label: "etcd", Dir: dir, Flags: flags, Etcd: storage.Transport.ServerList, Prefix: storage.Prefix})
	if err != nil {
		return nil, err
	}
	chain := &Chain{stop: func() {
		s.Stop()
		os.RemoveAll(dir)
	}}
	chain.GenericAPIServer.LoopbackClientConfig = s.Config
	return chain, nil
}

// PrepareRun returns the server.
func (c *Chain) PrepareRun() (*Chain, error) { return c, nil }

// Run returns when ctx has ended and the program, too.
func (c *Chain) Run(ctx context.Context) error {
	<-ctx.Done()
	c.stop()
	return nil
}

// flags returns the flags for the options.
func (c *Config) flags() (programs.Flags, error) {
	own := c.options.Options
	if l := own.SecureServing.Listener; l != nil {
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	gates, err := programs.GateFlags()
	flags := append(gates, programs.Of(&options.ServerRunOptions{Options: &own, Extra: c.options.Extra})...)
	flags.Remove("secure-port") // another is chosen
	return flags, err
}
