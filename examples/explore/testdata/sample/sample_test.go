package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	clientset "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	informers "k8s.io/sample-controller/pkg/generated/informers/externalversions"

	"github.com/kubesim/kubesim/fake"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/controller"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps by the real time of the program's start
	if flag.Parse(); *recordFrom != "" {
		if err := recordRun(*recordFrom); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// user is the user name of the controller; role.yaml has its permissions.
const user = "sample"

// sample runs the controller as the user over a simulated server.
func sample(srv *fake.Server) func(ctx context.Context, transport http.RoundTripper) error {
	return func(ctx context.Context, transport http.RoundTripper) error {
		return operate(ctx, &rest.Config{Host: srv.URL(), Transport: srv.As(user).Over(transport), QPS: -1}, resync)
	}
}

// resync is the period after which the informers of sample-controller report all objects again.
const resync = 30 * time.Second

// operate does what the main of sample-controller does, until ctx ends.
func operate(ctx context.Context, config *rest.Config, resync time.Duration) error {
	kube, foos := kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config)
	kubeFactory, fooFactory := kubeinformers.NewSharedInformerFactory(kube, resync), informers.NewSharedInformerFactory(foos, resync)
	c := NewController(ctx, kube, foos, kubeFactory.Apps().V1().Deployments(), fooFactory.Samplecontroller().V1alpha1().Foos())
	kubeFactory.Start(ctx.Done())
	fooFactory.Start(ctx.Done())
	defer kubeFactory.Shutdown()
	defer fooFactory.Shutdown()
	return c.Run(ctx, 2)
}

// oracles look at everything that kubesim can look at by itself.
func oracles(srv *fake.Server) {
	srv.Never("two deployments of a Foo", fake.OnePerOwner("deployments.apps"))
	srv.NoHotLoop("sample", 300)
	srv.WithinRBAC(user)
	if os.Getenv("LOST") != "" { // it updates Deployments without a resourceVersion, and this says so
		srv.NoLostUpdates("sample")
	}
}

// Under any faults, a Foo has its Deployment in the end.
func TestSample(t *testing.T) {
	var same fake.Outcome
	seconds, err := time.ParseDuration(os.Getenv("FOR"))
	if err != nil {
		t.Fatal("run it by make sample: ", err)
	}
	server := fake.Options{Controllers: controller.All, Nodes: 1, FailOnWarning: true}
	fake.Explore(t, fake.ExploreOptions{Seeds: 1_000_000, For: seconds, Server: server}, func(t fake.T, srv *fake.Server) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(srv.Load(filepath.Join(os.Getenv("SAMPLE"), "artifacts/examples/crd-status-subresource.yaml"), "role.yaml"))
		oracles(srv)
		srv.Process("sample", sample(srv))
		foos := clientset.NewForConfigOrDie(fake.Config[rest.Config](srv, "test")).SamplecontrollerV1alpha1().Foos("default")
		foo, err := foos.Create(t.Context(), &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "foo"},
			Spec: v1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(1))}}, metav1.CreateOptions{})
		must(err)
		time.Sleep(time.Minute)
		foo, err = foos.Get(t.Context(), "foo", metav1.GetOptions{})
		must(err)
		foo.Spec.Replicas = new(int32(3))
		_, err = foos.Update(t.Context(), foo, metav1.UpdateOptions{})
		for err != nil { // its status has been written meanwhile
			foo, err = foos.Get(t.Context(), "foo", metav1.GetOptions{})
			must(err)
			foo.Spec.Replicas = new(int32(3))
			_, err = foos.Update(t.Context(), foo, metav1.UpdateOptions{})
		}
		time.Sleep(5 * time.Minute)
		srv.Heal()
		srv.Eventually("three pods are available, and the Foo says so", 30*time.Minute, func(view fake.View) error {
			for _, f := range fake.To[v1alpha1.Foo](view.List("foos.samplecontroller.k8s.io", "default")...) {
				if f.Status.AvailableReplicas != 3 {
					return fmt.Errorf("it says %d", f.Status.AvailableReplicas)
				}
			}
			for _, d := range fake.To[appsv1.Deployment](view.List("deployments.apps", "default")...) {
				if d.Name == "web" && d.Status.AvailableReplicas == 3 {
					return nil
				}
			}
			return fmt.Errorf("the Deployment has not got them")
		})
		same.Compare(t, srv, "foos.samplecontroller.k8s.io", "deployments.apps")
		must(foos.Delete(t.Context(), "foo", metav1.DeleteOptions{}))
		srv.Eventually("nothing is left behind", 10*time.Minute, srv.LeftBehind("sample", "foos.samplecontroller.k8s.io"))
	})
}
