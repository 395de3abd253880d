// Command cmd is the operator as a separate process, as kubebuilder scaffolds it: "make run" starts it on the developer's machine,
// with the cluster of the kubeconfig.
package main

import (
	"flag"
	"os"

	"k8s.io/klog/v2"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kubesim/kubesim/examples/operator"
)

func main() {
	var probes, certificates string
	var port int
	var elect bool
	flag.StringVar(&probes, "health-probe-bind-address", ":8081", "The address the probe endpoint binds to.")
	flag.StringVar(&certificates, "webhook-cert-path", "", "The directory that contains the webhook certificate.")
	flag.IntVar(&port, "webhook-port", webhook.DefaultPort, "The port of the webhook server.")
	flag.BoolVar(&elect, "leader-elect", false, "Enable leader election for controller manager.")
	flag.Parse()
	controllerruntime.SetLogger(klog.NewKlogr())
	setup := controllerruntime.Log.WithName("setup")

	manager, err := controllerruntime.NewManager(controllerruntime.GetConfigOrDie(), controllerruntime.Options{
		Scheme:                 operator.Scheme(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		WebhookServer:          webhook.NewServer(webhook.Options{CertDir: certificates, Port: port}),
		HealthProbeBindAddress: probes,
		LeaderElection:         elect,
		LeaderElectionID:       "1f0b2c3d.example.com",
	})
	if err == nil {
		err = operator.Setup(manager)
	}
	if err == nil {
		err = manager.AddReadyzCheck("webhooks", manager.GetWebhookServer().StartedChecker())
	}
	if err == nil {
		err = manager.AddHealthzCheck("healthz", healthz.Ping)
	}
	if err == nil {
		err = manager.Start(controllerruntime.SetupSignalHandler())
	}
	if err != nil {
		setup.Error(err, "problem running manager")
		os.Exit(1)
	}
}
