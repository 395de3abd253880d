package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

// controllersEnv names the kube-controller-manager to start beside the server; without it none runs.
const controllersEnv = "KUBESIM_REAL_CONTROLLERS"

// startControllers starts kube-controller-manager with all controllers except the cloud controllers, each with its own service account.
// The intervals of periodic work are shorter than by default, which saves time and does not change the results.
func (s *server) startControllers(program string) error {
	file := func(name string) string { return filepath.Join(s.dir, name) }
	if err := s.prepareControllers(); err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(free())
	config := file("kube-controller-manager.kubeconfig")
	s.controllers = exec.Command(program, "--kubeconfig="+config, "--authentication-kubeconfig="+config,
		"--authorization-kubeconfig="+config, "--bind-address=127.0.0.1", "--secure-port="+port, "--cert-dir="+file("certs"),
		"--leader-elect=false", "--use-service-account-credentials=true", "--kube-api-qps=500", "--kube-api-burst=1000",
		"--controllers=*,bootstrap-signer-controller,token-cleaner-controller",
		"--root-ca-file="+file("ca.crt"), "--service-account-private-key-file="+file("sa.key"),
		"--cluster-signing-cert-file="+file("ca.crt"), "--cluster-signing-key-file="+file("ca.key"),
		"--horizontal-pod-autoscaler-sync-period=5s", "--pvclaimbinder-sync-period=1s")
	log, err := os.Create(file("kube-controller-manager.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.controllers.Stdout, s.controllers.Stderr = log, log
	fmt.Printf("kube-controller-manager logs to %s\n", log.Name())
	return s.controllers.Start()
}

// schedulerEnv names the kube-scheduler to start beside the server; without it none runs.
const schedulerEnv = "KUBESIM_REAL_SCHEDULER"

// startScheduler starts kube-scheduler, which examines one node after the other.
func (s *server) startScheduler(program string) error {
	config := filepath.Join(s.dir, "kube-scheduler.yaml")
	if err := s.writeConfig("kube-scheduler.kubeconfig", "schedulertoken"); err != nil {
		return err
	}
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 1\n" +
		"leaderElection: {leaderElect: false}\nclientConnection: {kubeconfig: " + filepath.Join(s.dir, "kube-scheduler.kubeconfig") + "}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	s.scheduler = exec.Command(program, "--config="+config, "--secure-port=0")
	log, err := os.Create(filepath.Join(s.dir, "kube-scheduler.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.scheduler.Stdout, s.scheduler.Stderr = log, log
	fmt.Printf("kube-scheduler logs to %s\n", log.Name())
	return s.scheduler.Start()
}

// prepareControllers writes the files that kube-controller-manager reads.
func (s *server) prepareControllers() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kubernetes"}, key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		"ca.crt": {Type: "CERTIFICATE", Bytes: ca.Raw},
		"ca.key": {Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)},
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return s.writeConfig("kube-controller-manager.kubeconfig", "managertoken")
}

// writeConfig writes a kubeconfig with a token.
func (s *server) writeConfig(name, token string) error {
	config := api.NewConfig()
	config.Clusters["real"] = &api.Cluster{Server: "https://" + s.address, InsecureSkipTLSVerify: true}
	config.AuthInfos["real"] = &api.AuthInfo{Token: token}
	config.Contexts["real"] = &api.Context{Cluster: "real", AuthInfo: "real"}
	config.CurrentContext = "real"
	return clientcmd.WriteToFile(*config, filepath.Join(s.dir, name))
}
