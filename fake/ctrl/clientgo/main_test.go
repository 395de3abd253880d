package clientgo_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl/clientgo"
	_ "github.com/kubesim/kubesim/fake/explore"
)

func TestMain(m *testing.M) { clientgo.Main(m) }

// TestInformers checks that virtual time advances while informers without a resync run.
func TestInformers(t *testing.T) {
	fake.Explore(t, fake.ExploreOptions{Seeds: 2, Workers: 1}, func(_ fake.T, srv *fake.Server) {
		srv.Process("client", func(ctx context.Context, transport http.RoundTripper) error {
			kube, err := kubernetes.NewForConfig(&rest.Config{Host: srv.URL(), Transport: transport})
			if err != nil {
				return err
			}
			factory := informers.NewSharedInformerFactory(kube, 0)
			factory.Core().V1().ConfigMaps().Informer()
			factory.Start(ctx.Done())
			<-ctx.Done()
			factory.Shutdown()
			return nil
		})
		time.Sleep(time.Minute)
	})
}
