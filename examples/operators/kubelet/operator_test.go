package kubelet

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubesim/kubesim/fake"
	_ "github.com/kubesim/kubesim/fake/explore"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps by the real time of the program's start
	os.Exit(m.Run())
}

// A StatefulSet of one replica runs on node one. A user drains the node, so that the pod moves to node two.
func TestOperator(t *testing.T) {
	fake.Explore(t, fake.ExploreOptions{
		// The kubelets renew no leases, so the controller that would mark their nodes as lost does not run.
		Server:  fake.Options{Controllers: []string{"*", "-node-lifecycle-controller"}},
		Prepare: func(_ fake.T, srv *fake.Server) { srv.Load("nodes.yaml") },
	}, func(t fake.T, srv *fake.Server) {
		all := &machines{}
		for _, node := range []string{"one", "two"} {
			srv.Process("kubelet-"+node, func(ctx context.Context, transport http.RoundTripper) error {
				config := &rest.Config{Host: srv.URL(), Transport: transport, QPS: -1}
				return (&kubelet{node, kubernetes.NewForConfigOrDie(config), all}).run(ctx)
			})
		}
		srv.Load("db.yaml")
		time.Sleep(5 * time.Minute)
		srv.Load("drained.yaml")
		user := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv, "user"))
		_ = user.CoreV1().Pods("default").Delete(t.Context(), "db-0", metav1.DeleteOptions{}) // faults may have prevented its creation
		time.Sleep(5 * time.Minute)
		srv.Heal()
		time.Sleep(5 * time.Minute)
		if all.twice != "" {
			t.Error(all.twice)
		}
		if pod, err := user.CoreV1().Pods("default").Get(t.Context(), "db-0", metav1.GetOptions{}); err != nil || pod.Spec.NodeName != "two" {
			t.Errorf("the pod has not moved: %v", err)
		}
	})
}
