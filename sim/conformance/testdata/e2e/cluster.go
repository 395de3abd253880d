package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// users are the users of the server. Each has a token in tokens.csv and a kubeconfig file.
var users = []struct{ file, name, groups string }{
	{"admin", "admin", "system:masters"},
	{"kube-controller-manager", "system:kube-controller-manager", ""},
	{"kube-scheduler", "system:kube-scheduler", ""},
}

// cluster is a server and the controllers around it, each a process with a log in flags.out.
type cluster struct {
	flags
	address   string
	etcd      *embed.Etcd
	processes []*exec.Cmd
}

func (c *cluster) file(name string) string       { return filepath.Join(c.out, name) }
func (c *cluster) kubeconfig(user string) string { return c.file(user + ".kubeconfig") }

// start starts the server, waits until it is ready, and starts the controllers.
func (c *cluster) start(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	start := c.startKubesim
	if c.target == "real" {
		start = c.startReal
	}
	if err := start(); err != nil {
		return err
	}
	if err := c.ready(ctx); err != nil {
		return err
	}
	if err := c.kubeconfigs(); err != nil {
		return err
	}
	if c.own() {
		return nil
	}
	serving := []string{"--bind-address=127.0.0.1", "--cert-dir=" + c.file("certs"), "--kube-api-qps=200", "--kube-api-burst=400"}
	manager, scheduler := c.kubeconfig("kube-controller-manager"), c.kubeconfig("kube-scheduler")
	if err := c.run("kube-controller-manager", append(serving, "--secure-port="+port(free()), "--kubeconfig="+manager,
		"--authentication-kubeconfig="+manager, "--authorization-kubeconfig="+manager, "--use-service-account-credentials=true",
		"--controllers=*,bootstrap-signer-controller,token-cleaner-controller", "--root-ca-file="+c.file("server-ca.crt"),
		"--service-account-private-key-file="+c.file("sa.key"), "--cluster-signing-cert-file="+c.file("ca.crt"),
		"--cluster-signing-key-file="+c.file("ca.key"))...); err != nil {
		return err
	}
	return c.run("kube-scheduler", append(serving, "--secure-port="+port(free()), "--kubeconfig="+scheduler,
		"--authentication-kubeconfig="+scheduler, "--authorization-kubeconfig="+scheduler)...)
}

// issuer is the issuer of service account tokens. kube-controller-manager also signs them with the server's key.
const issuer = "https://kubernetes.default.svc.cluster.local"

// own reports whether kubesim runs its own controllers and nodes.
func (c *cluster) own() bool { return c.target == "own" }

// startKubesim starts kubesim, whose certificate is its own.
func (c *cluster) startKubesim() error {
	controllers := []string{"--controllers=none"}
	if c.own() {
		controllers = []string{"--controllers=all", "--nodes=2"}
	}
	return c.run("kubesim", append([]string{"serve", "--listen=" + c.address, "--tls", "--auth=rbac",
		"--token-auth-file=" + c.file("tokens.csv"), "--client-ca-file=" + c.file("ca.crt"),
		"--service-account-key-file=" + c.file("sa.key"), "--service-account-signing-key-file=" + c.file("sa.key"),
		"--service-account-issuer=" + issuer, "--enable-admission-plugins=ServiceAccount",
		"--kubeconfig=" + c.file("kubesim.kubeconfig"),
		`--cors-allowed-origins=^http://localhost$`}, append(controllers, strings.Fields(c.server)...)...)...)
}

// startReal starts etcd in this process and kube-apiserver over it, with the plugins of a default server.
func (c *cluster) startReal() error {
	e := embed.NewConfig()
	e.Dir, e.LogLevel, e.UnsafeNoFsync = c.file("etcd"), "fatal", true
	clients, peers := url.URL{Scheme: "http", Host: free()}, url.URL{Scheme: "http", Host: free()}
	e.ListenClientUrls, e.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	e.ListenPeerUrls, e.AdvertisePeerUrls = []url.URL{peers}, []url.URL{peers}
	e.InitialCluster = "default=" + peers.String()
	var err error
	if c.etcd, err = embed.StartEtcd(e); err != nil {
		return err
	}
	<-c.etcd.Server.ReadyNotify()
	return c.run("kube-apiserver", append([]string{"--etcd-servers=" + clients.String(),
		"--bind-address=127.0.0.1", "--secure-port=" + port(c.address),
		"--tls-cert-file=" + c.file("server.crt"), "--tls-private-key-file=" + c.file("server.key"),
		"--token-auth-file=" + c.file("tokens.csv"), "--client-ca-file=" + c.file("ca.crt"), "--authorization-mode=RBAC",
		"--service-account-key-file=" + c.file("sa.key"), "--service-account-signing-key-file=" + c.file("sa.key"),
		"--service-account-issuer=" + issuer, "--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true"}, strings.Fields(c.server)...)...)
}

// run starts a process; its log is a file of its name.
func (c *cluster) run(name string, args ...string) error {
	log, err := os.Create(c.file(name + ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p := exec.Command(filepath.Join(c.bin, name), args...)
	p.Stdout, p.Stderr = log, log
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for this process only
	if err := p.Start(); err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	return nil
}

// ready waits until the server is.
func (c *cluster) ready(ctx context.Context) error {
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for range 300 {
		if !wait(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
		q, _ := http.NewRequest(http.MethodGet, "https://"+c.address+"/readyz", nil)
		q.Header.Set("Authorization", "Bearer admin-token")
		res, err := client.Do(q)
		if err != nil {
			continue
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("the server was not ready within a minute: see the logs in %s", c.out)
}

// stop ends the processes, the last first.
func (c *cluster) stop() {
	for len(c.processes) > 0 {
		p := c.processes[len(c.processes)-1]
		p.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, func() { p.Process.Kill() })
		p.Wait()
		kill.Stop()
		if s := p.ProcessState; s != nil {
			fmt.Printf("%s: %.0f s of CPU, %d MiB at most\n", filepath.Base(p.Path), (s.UserTime() + s.SystemTime()).Seconds(),
				s.SysUsage().(*syscall.Rusage).Maxrss>>10)
		}
		c.processes = c.processes[:len(c.processes)-1]
	}
	if c.etcd != nil {
		c.etcd.Close()
		c.etcd = nil
	}
}

// prepare writes the certificates, keys and tokens.
func (c *cluster) prepare() error {
	c.address = c.listen
	if strings.HasSuffix(c.address, ":0") {
		c.address = free()
	}
	now := time.Now()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0)}
	server := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"},
		DNSNames: []string{"localhost", "kubernetes.default.svc"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter}
	key, err := c.certify("ca", ca, ca, nil)
	if err != nil {
		return err
	}
	if _, err := c.certify("server", server, ca, key); err != nil {
		return err
	}
	if _, err := c.certify("sa", ca, ca, nil); err != nil { // for its key
		return err
	}
	tokens := ""
	for _, u := range users {
		tokens += fmt.Sprintf("%s-token,%s,%s,%s\n", u.file, u.name, u.name, u.groups)
	}
	return os.WriteFile(c.file("tokens.csv"), []byte(tokens), 0o600)
}

// kubeconfigs writes the kubeconfig of each user, and server-ca.crt, the CA of the server's certificate.
func (c *cluster) kubeconfigs() error {
	authority, err := os.ReadFile(c.file("ca.crt"))
	if c.target != "real" {
		var own *api.Config
		if own, err = clientcmd.LoadFromFile(c.file("kubesim.kubeconfig")); err == nil {
			authority = own.Clusters["kubesim"].CertificateAuthorityData
		}
	}
	if err == nil {
		err = os.WriteFile(c.file("server-ca.crt"), authority, 0o644)
	}
	if err != nil {
		return err
	}
	for _, u := range users {
		config := api.NewConfig()
		config.Clusters["e2e"] = &api.Cluster{Server: "https://" + c.address, CertificateAuthority: c.file("server-ca.crt")}
		config.AuthInfos["e2e"] = &api.AuthInfo{Token: u.file + "-token"}
		config.Contexts["e2e"] = &api.Context{Cluster: "e2e", AuthInfo: "e2e"}
		config.CurrentContext = "e2e"
		if err := clientcmd.WriteToFile(*config, c.kubeconfig(u.file)); err != nil {
			return err
		}
	}
	return nil
}

// certify writes NAME.key, a new key, and NAME.crt, its certificate signed by a parent; without a key of the parent it
// signs itself.
func (c *cluster) certify(name string, template, parent *x509.Certificate, signer *rsa.PrivateKey) (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(c.file(name+".key"), text, 0o600); err != nil {
		return nil, err
	}
	text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return key, os.WriteFile(c.file(name+".crt"), text, 0o644)
}

// free returns an unused address.
func free() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer l.Close()
	return l.Addr().String()
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}
