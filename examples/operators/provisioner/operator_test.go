package provisioner

import (
	"context"
	"net/http"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl/clientgo"
	_ "github.com/kubesim/kubesim/fake/explore"
	kubesim "github.com/kubesim/kubesim/sim/controller"
)

func TestMain(m *testing.M) { clientgo.Main(m) }

// disks creates volumes without a device.
type disks struct{}

func (disks) Provision(_ context.Context, o controller.ProvisionOptions) (*v1.PersistentVolume, controller.ProvisioningState, error) {
	return &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: o.PVName}, Spec: v1.PersistentVolumeSpec{
		PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy, AccessModes: o.PVC.Spec.AccessModes, Capacity: o.PVC.Spec.Resources.Requests,
		PersistentVolumeSource: v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/" + o.PVName}},
	}}, controller.ProvisioningFinished, nil
}

func (disks) Delete(context.Context, *v1.PersistentVolume) error { return nil }

// Two claims get volumes, which are deleted with them.
func TestOperator(t *testing.T) {
	same := fake.Outcome{}
	fake.Explore(t, fake.ExploreOptions{
		Server: fake.Options{Controllers: kubesim.All, Nodes: 2},
	}, func(t fake.T, srv *fake.Server) {
		srv.Process("operator", func(ctx context.Context, transport http.RoundTripper) error {
			kube := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL(), Transport: transport, QPS: -1})
			controller.NewProvisionController(ctx, kube, "example.com/disks", disks{}, controller.LeaderElection(false),
				controller.AddFinalizer(true)).Run(ctx) // as external-provisioner does
			return nil
		})
		srv.Load("claims.yaml")
		time.Sleep(5 * time.Minute)
		kube := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv, "test"))
		if err := kube.CoreV1().PersistentVolumeClaims("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		srv.Heal()
		time.Sleep(20 * time.Minute) // a work queue retries after at most 17 minutes
		same.Compare(t, srv, "persistentvolumes", "persistentvolumeclaims")
	})
}
