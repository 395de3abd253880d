package mpi

import (
	"context"
	"net/http"
	"testing"
	"time"

	clientset "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	informers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	mpi "github.com/kubeflow/mpi-operator/pkg/controller"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl/clientgo"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/controller"
)

func TestMain(m *testing.M) { clientgo.Main(m) }

const crd = "manifests/base/kubeflow.org_mpijobs.yaml"

// run does what the operator's main does.
func run(ctx context.Context, config *rest.Config) error {
	kube, jobs := kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config)
	builtin, custom := kubeinformers.NewSharedInformerFactory(kube, 0), informers.NewSharedInformerFactory(jobs, 0)
	core := builtin.Core().V1()
	c, err := mpi.NewMPIJobController(kube, jobs, nil, nil, core.ConfigMaps(), core.Secrets(), core.Services(), builtin.Batch().V1().Jobs(),
		core.Pods(), builtin.Scheduling().V1().PriorityClasses(), custom.Kubeflow().V2beta1().MPIJobs(), "", "")
	if err == nil {
		builtin.Start(ctx.Done())
		custom.Start(ctx.Done())
		err = c.Run(2, ctx.Done())
	}
	return err
}

// Two MPIJobs of a launcher and two workers, one of which is first suspended, run for 20 minutes and finish.
func TestOperator(t *testing.T) {
	same := fake.Outcome{Counts: true}
	fake.Explore(t, fake.ExploreOptions{
		Server:  fake.Options{Controllers: controller.All, Nodes: 2},
		Prepare: func(_ fake.T, srv *fake.Server) { srv.LoadModule("github.com/kubeflow/mpi-operator", crd) },
	}, func(t fake.T, srv *fake.Server) {
		srv.Process("operator", func(ctx context.Context, transport http.RoundTripper) error {
			return run(ctx, &rest.Config{Host: srv.URL(), Transport: transport, QPS: -1})
		})
		srv.Load("mpijob.yaml")
		time.Sleep(5 * time.Minute)
		srv.Load("resumed.yaml") // as Kueue does
		time.Sleep(30 * time.Minute)
		srv.Heal()
		time.Sleep(time.Hour) // a work queue retries after at most 17 minutes
		same.Compare(t, srv, "mpijobs", "jobs", "services", "configmaps", "pods")
	})
}
