// Command real runs a real kube-apiserver, built from its module, over an etcd in this process. It is the source of the recordings,
// and answers questions that no recording covers.
//
//	client ──http──▶ real ──https──▶ kube-apiserver (a process of its own) ──▶ etcd (in this process)
//	                   │ POST /sim/v1/compact: compact etcd to the newest revision
//	                   └ POST /sim/v1/expire:  the same, and restart kube-apiserver to drop the history of its watch caches
//
// The plugin ServiceAccount is off and no controller runs, as for the recordings of answers; for those of situations the
// environment variable KUBESIM_REAL_CONTROLLERS names a kube-controller-manager to start beside it. The token admintoken belongs to
// system:masters, alicetoken to alice, who has no rights. Arguments go to kube-apiserver, for example
// --feature-gates=VolumeLimitScaling=true; the environment variable KUBESIM_REAL_LISTEN is another address to listen on.
// All files are in a temporary folder, which is removed at the end.
//
// The first build takes some minutes and 2 GB of memory. It is a separate module below testdata, because no other module may have
// its dependencies.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// listen is the address for clients. It can be changed to run several servers at the same time.
var listen = cmp.Or(os.Getenv("KUBESIM_REAL_LISTEN"), "127.0.0.1:6480")

func main() {
	if os.Getenv("KUBESIM_REAL_APISERVER") != "" { // the process that serve starts
		os.Exit(cli.Run(app.NewAPIServerCommand()))
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
		os.Exit(1)
	}
}

// server is kube-apiserver with its etcd and controllers.
type server struct {
	dir     string
	etcd    *embed.Etcd
	address string   // of kube-apiserver
	flags   []string // the caller's
	process *exec.Cmd
	proxy   *httputil.ReverseProxy

	controllers *exec.Cmd // kube-controller-manager, or nil
	scheduler   *exec.Cmd // kube-scheduler, or nil
}

func run(flags []string) error {
	dir, err := os.MkdirTemp("", "kubesim-real-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &server{dir: dir, flags: flags}
	if err := s.prepare(); err != nil {
		return err
	}
	defer s.etcd.Close()
	if err := s.start(); err != nil {
		return err
	}
	defer func() { s.process.Process.Kill() }()
	if program := os.Getenv(controllersEnv); program != "" {
		if err := s.startControllers(program); err != nil {
			return err
		}
		defer func() { s.controllers.Process.Kill() }()
	}
	if program := os.Getenv(schedulerEnv); program != "" {
		if err := s.startScheduler(program); err != nil {
			return err
		}
		defer func() { s.scheduler.Process.Kill() }()
	}
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(listen, s) }()
	fmt.Printf("serving http://%s\ntoken admintoken\n"+
		"compare: make conformance-real KUBESIM_TARGET=http://%[1]s KUBESIM_TOKEN=admintoken\n"+
		"record the cases without a .res: the same with KUBESIM_RECORD=1\n", listen)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	select {
	case err = <-failed:
	case <-interrupted:
	}
	return err
}

// ServeHTTP handles the requests that control the server, and forwards all others with their paths unchanged.
func (s *server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var err error
	switch q.Method + " " + q.URL.Path {
	case "GET /sim/v1/clock":
		fmt.Fprintln(w, `{"manual":false}`)
	case "POST /sim/v1/compact":
		err = s.compact(q.Context())
	case "POST /sim/v1/expire":
		if err = s.compact(q.Context()); err == nil {
			s.process.Process.Kill()
			s.process.Wait()
			err = s.start()
		}
	default:
		s.proxy.ServeHTTP(w, q)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// prepare starts etcd and writes what kube-apiserver reads.
func (s *server) prepare() error {
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.UnsafeNoFsync = filepath.Join(s.dir, "etcd"), "error", true
	clients, peers := url.URL{Scheme: "http", Host: free()}, url.URL{Scheme: "http", Host: free()}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peers}, []url.URL{peers}
	c.InitialCluster = "default=" + peers.String()
	var err error
	if s.etcd, err = embed.StartEtcd(c); err != nil {
		return err
	}
	<-s.etcd.Server.ReadyNotify()
	if err := s.age(); err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(filepath.Join(s.dir, "sa.key"), text, 0o600); err != nil {
		return err
	}
	tokens := "admintoken,admin,admin-uid,system:masters\nalicetoken,alice,alice-uid,dev\n" +
		"managertoken,system:kube-controller-manager,manager-uid\nschedulertoken,system:kube-scheduler,scheduler-uid\n"
	if err := os.WriteFile(filepath.Join(s.dir, "tokens.csv"), []byte(tokens), 0o600); err != nil {
		return err
	}
	s.address = free()
	s.proxy = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: s.address})
	s.proxy.FlushInterval = -1 // events at once
	s.proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true}
	return nil
}

// start starts kube-apiserver and waits until it is ready.
func (s *server) start() error {
	_, port, _ := net.SplitHostPort(s.address)
	file := func(name string) string { return filepath.Join(s.dir, name) }
	s.process = exec.Command(os.Args[0], append([]string{
		"--etcd-servers=" + s.etcd.Config().AdvertiseClientUrls[0].String(), "--bind-address=127.0.0.1", "--secure-port=" + port,
		"--cert-dir=" + file("certs"), "--token-auth-file=" + file("tokens.csv"), "--authorization-mode=RBAC",
		"--service-account-key-file=" + file("sa.key"), "--service-account-signing-key-file=" + file("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc", "--disable-admission-plugins=ServiceAccount",
		"--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
	}, s.flags...)...)
	s.process.Args[0] = "kube-apiserver" // the field manager of its own writes
	s.process.Env = append(os.Environ(), "KUBESIM_REAL_APISERVER=1")
	log, err := os.Create(file("kube-apiserver.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return err
	}
	for range 300 {
		time.Sleep(200 * time.Millisecond)
		q, _ := http.NewRequest(http.MethodGet, "https://"+s.address+"/readyz", nil)
		q.Header.Set("Authorization", "Bearer admintoken")
		if res, err := s.proxy.Transport.RoundTrip(q); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	text, _ := os.ReadFile(log.Name())
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("kube-apiserver was not ready within a minute; the end of its log:\n%s", strings.Join(lines[max(0, len(lines)-10):], "\n"))
}

// age gives the store a past that it has forgotten: revision 1 is gone, and a resourceVersion is taken for no other
// number of an answer.
func (s *server) age() error {
	for range 4000 {
		if _, err := s.etcd.Server.Put(context.Background(), &pb.PutRequest{Key: []byte("past"), Value: []byte("past")}); err != nil {
			return err
		}
	}
	return s.compact(context.Background())
}

// compact compacts etcd to the newest revision.
func (s *server) compact(ctx context.Context) error {
	_, err := s.etcd.Server.Compact(ctx, &pb.CompactionRequest{Revision: s.etcd.Server.KV().Rev(), Physical: true})
	return err
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
