// Package clientgo asks kubesim what programs ask with client-go. make compat runs it with each minor of client-go; it uses only
// what all of them have.
package clientgo

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fake"
)

// overAll runs a test with a server of its own for each way to reach one.
func overAll(t *testing.T, test func(t *testing.T, srv *fake.Server, cfg *rest.Config)) {
	t.Run("in process", func(t *testing.T) {
		srv := fake.RunT(t)
		test(t, srv, fake.Config[rest.Config](srv, "compat"))
	})
	t.Run("over TLS", func(t *testing.T) {
		srv := fake.RunT(t)
		l, err := srv.Listen(fake.ListenOptions{TLS: true})
		is.New(t).NoErr(err)
		test(t, srv, &rest.Config{Host: l.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: l.CA()}, QPS: -1, UserAgent: "compat"})
	})
	t.Run("protobuf", func(t *testing.T) {
		srv := fake.RunT(t)
		cfg := fake.Config[rest.Config](srv, "compat")
		cfg.ContentConfig = rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf", AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json"}
		test(t, srv, cfg)
	})
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return so(), nil })
	if err != nil {
		t.Fatal(errors.Join(errors.New("never: "+what), err))
	}
}
