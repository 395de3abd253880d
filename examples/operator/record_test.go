package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/clock"
	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
	"github.com/kubesim/kubesim/fake/record"
)

// recording is a run of the controller over a real API server.
const recording = "testdata/real_run.recording"

// recordFrom is the address of a new real API server (make real). If it is given, no test runs, and the recording is replaced:
//
//	go test . -record http://127.0.0.1:6480
var recordFrom = flag.String("record", "", "record a run over the real API server at this address")

// operate runs the controller, without the webhooks, until ctx ends.
func operate(ctx context.Context, config *rest.Config, of func(client.Client) reconcile.Reconciler) error {
	manager, err := controllerruntime.NewManager(config, controllerruntime.Options{
		Scheme:  Scheme(),
		Metrics: metricsserver.Options{BindAddress: "0"}, // no sockets in a bubble
		// controller-runtime's own queue may leave a goroutine behind when it stops, which fails a bubble.
		Controller:     controllerconfig.Controller{SkipNameValidation: new(true), UsePriorityQueue: new(false)},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
	})
	if err != nil {
		return err
	}
	if err := addController(manager, of(manager.GetClient())); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// correct returns the reconciler of the project.
func correct(c client.Client) reconcile.Reconciler { return &reconciler{c} }

// mapper returns a RESTMapper for the kinds that the controller uses, so that a recording contains no discovery.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(v2.GroupVersion.WithKind("Site"), meta.RESTScopeNamespace)
	m.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	return m
}

// recordRun records the controller over a real API server, while a user creates two Sites and changes one, and the Deployments become
// ready.
func recordRun(url string) error {
	config := &rest.Config{Host: url, BearerToken: os.Getenv("KUBESIM_TOKEN"), QPS: -1}
	user, err := client.New(config, client.Options{Scheme: Scheme()})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := createDefinition(ctx, user); err != nil {
		return err
	}
	file, err := os.Create(recording)
	if err != nil {
		return err
	}
	to := record.To(file)
	recorded := rest.CopyConfig(config)
	recorded.WrapTransport = to.Wrap
	running, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- operate(running, recorded, correct) }()
	clock.System{}.Sleep(5 * time.Second)
	err = useSites(ctx, user)
	stop()
	return errors.Join(err, <-ended, to.Err(), file.Close())
}

// createDefinition creates the definition of Sites, without the conversion webhook, and waits until it is served.
func createDefinition(ctx context.Context, user client.Client) error {
	text, err := os.ReadFile("config/crd.yaml")
	if err != nil {
		return err
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &crd.Object); err != nil {
		return err
	}
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	err = user.Create(ctx, crd)
	for range 100 {
		if err = user.List(ctx, &v2.SiteList{}); err == nil {
			break
		}
		clock.System{}.Sleep(100 * time.Millisecond)
	}
	return err
}

// useSites does what others do during the recording.
func useSites(ctx context.Context, user client.Client) error {
	for i, name := range []string{"blog", "wiki"} {
		site := &v2.Site{ObjectMeta: named(name), Spec: v2.SiteSpec{Image: name + ":1", Hosts: []string{name + ".example.com"}, Scale: &v2.Scale{Replicas: int32(i + 1)}}}
		if err := user.Create(ctx, site); err != nil {
			return err
		}
		if err := becomeReady(ctx, user, name); err != nil {
			return err
		}
	}
	site := &v2.Site{}
	if err := user.Get(ctx, client.ObjectKey{Namespace: "default", Name: "blog"}, site); err != nil {
		return err
	}
	site.Spec.Image = "blog:2"
	if err := user.Update(ctx, site); err != nil {
		return err
	}
	return becomeReady(ctx, user, "blog")
}

// becomeReady waits until a Site has its Deployment, and reports that the pods of the Deployment are ready, because no controller does
// it.
func becomeReady(ctx context.Context, user client.Client, name string) error {
	clock.System{}.Sleep(3 * time.Second)
	d := &appsv1.Deployment{}
	if err := user.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, d); err != nil {
		return err
	}
	if apierrors.IsNotFound(user.Get(ctx, client.ObjectKeyFromObject(d), &v2.Site{})) {
		return fmt.Errorf("there is no Site %s", name)
	}
	n := *d.Spec.Replicas
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
	if err := user.Status().Update(ctx, d); err != nil {
		return err
	}
	clock.System{}.Sleep(3 * time.Second)
	return nil
}
