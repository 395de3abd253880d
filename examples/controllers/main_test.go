package controllers

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"

	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	controllerruntime.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// config returns the basic configuration of every client.
func config(srv *fake.Server) *rest.Config {
	return &rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1}
}
