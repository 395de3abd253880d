package controller

import (
	"context"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	clientset "github.com/bitnami-labs/sealed-secrets/pkg/client/clientset/versioned"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl/clientgo"
	_ "github.com/kubesim/kubesim/fake/explore"
)

func TestMain(m *testing.M) { clientgo.Main(m) }

// run does what the operator's Main does, with an existing key.
func run(ctx context.Context, srv *fake.Server, transport http.RoundTripper) error {
	config := &rest.Config{Host: srv.URL(), Transport: transport, QPS: -1}
	kube, sealed := kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config)
	keys, err := initKeyRegistry(ctx, kube, nil, "default", "sealed-secrets-key", SealedSecretsKeyLabel, 2048)
	if err != nil {
		return err
	}
	c, err := prepareController(kube, "", nil, &Flags{}, sealed, keys)
	if err == nil {
		c.updateStatus = true
		go c.Run(ctx.Done())
		<-ctx.Done()
	}
	return err
}

// Two SealedSecrets become Secrets, and get new data. A user deletes a Secret, which is created again.
func TestOperator(t *testing.T) {
	same := fake.Outcome{Counts: true}
	fake.Explore(t, fake.ExploreOptions{
		Prepare: func(_ fake.T, srv *fake.Server) {
			srv.LoadModule("github.com/bitnami-labs/sealed-secrets", "helm/sealed-secrets/crds")
			srv.Load("key.yaml")
		},
	}, func(t fake.T, srv *fake.Server) {
		srv.Process("operator", func(ctx context.Context, transport http.RoundTripper) error { return run(ctx, srv, transport) })
		for _, file := range []string{"first.yaml", "second.yaml"} {
			srv.Load(file)
			time.Sleep(5 * time.Minute)
		}
		secrets := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv, "user")).CoreV1().Secrets("default")
		_ = secrets.Delete(t.Context(), "b", metav1.DeleteOptions{}) // faults may have prevented its creation
		time.Sleep(5 * time.Minute)
		srv.Heal()
		time.Sleep(20 * time.Minute)
		same.Compare(t, srv, "sealedsecrets", "secrets")
	})
}
