package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

const samplingFile = "testdata/sampled.json"

// sampledCluster is a cluster of more than 100 nodes, in which a scheduler does not examine all nodes for each pod. Chosen contains
// the node of each pod, in order. Some nodes are added after some of the pods.
type sampledCluster struct {
	Nodes, Zones, Pods int
	Chosen             []string
}

// TestSampling compares the nodes that the scheduler chooses in large clusters with the choices of a real kube-scheduler v1.36.3
// with one worker (parallelism: 1), which are in testdata/sampled.json.
//
// A real scheduler chooses at random among nodes of the same score. Here each pod ranks all nodes differently, and no other plugin
// distinguishes them. The scheduler therefore chooses the highest-ranked node that it has examined, and the choice shows how many
// nodes it examines, in which order, and where it begins.
//
// With KUBESIM_SCHEDULER=FILE, the test starts this kube-scheduler and records its choices (make record-sampling).
func TestSampling(t *testing.T) {
	t.Parallel()
	clusters := []sampledCluster{{Nodes: 99, Zones: 1, Pods: 10}, {Nodes: 150, Zones: 3, Pods: 60}, {Nodes: 400, Zones: 1, Pods: 60},
		{Nodes: 1000, Zones: 4, Pods: 60}}
	program := os.Getenv("KUBESIM_SCHEDULER")
	if program == "" {
		text, err := os.ReadFile(samplingFile)
		if err == nil {
			err = json.Unmarshal(text, &clusters)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range clusters {
		c := &clusters[i]
		chosen := c.choices(t, program)
		if program == "" && !slices.Equal(chosen, c.Chosen) {
			t.Errorf("%d nodes in %d zones: chosen %q, want %q", c.Nodes, c.Zones, chosen, c.Chosen)
		}
		c.Chosen = chosen
	}
	if program != "" {
		text, err := json.MarshalIndent(clusters, "", " ")
		if err == nil {
			err = os.WriteFile(samplingFile, append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// choices creates the nodes and pods of a cluster, and returns the node that the scheduler has chosen for each pod. If program is
// "", kubesim's scheduler chooses; otherwise the kube-scheduler that program names does.
func (c sampledCluster) choices(t *testing.T, program string) (chosen []string) {
	o := fake.Options{Controllers: []string{"kube-scheduler"}}
	if program != "" {
		o.Controllers = nil
	}
	s := &sampler{t: t, srv: fake.RunT(t, o), random: rand.New(rand.NewPCG(uint64(c.Nodes), 7)), zones: c.Zones}
	if program != "" {
		s.startScheduler(program)
	}
	s.addNodes(1)
	s.place("first") // after this, the scheduler's informers have started: they would read existing nodes in random order
	s.addNodes(c.Nodes - 1)
	for i := range c.Pods {
		if i%20 == 19 {
			s.addNodes(3)
		}
		chosen = append(chosen, s.place(fmt.Sprint("pod-", i)))
	}
	return chosen
}

// sampler fills one cluster.
type sampler struct {
	t        *testing.T
	srv      *fake.Server
	random   *rand.Rand
	zones    int
	nodes    int
	recorded bool // by a real scheduler
}

// rankBits is the number of bits of the largest rank.
const rankBits = 11

// addNodes adds n nodes, sorted by name. About a quarter of them are unschedulable.
func (s *sampler) addNodes(n int) {
	for range n {
		s.nodes++
		labels := map[string]any{"topology.kubernetes.io/zone": fmt.Sprint("zone-", s.random.IntN(s.zones))}
		rank := (s.nodes*619 + 1) % (1 << rankBits) // unique for each node, and not in the nodes' order
		for bit := range rankBits {
			if rank>>bit&1 == 1 {
				labels[fmt.Sprint("rank-", bit)] = "1"
			}
		}
		closed := s.random.IntN(4) == 0 && s.nodes > 1
		s.create("nodes", map[string]any{"metadata": map[string]any{"name": fmt.Sprintf("node-%04d", s.nodes), "labels": labels},
			"spec":   map[string]any{"unschedulable": closed},
			"status": map[string]any{"allocatable": map[string]any{"cpu": "10000", "memory": "100Ti", "pods": "1000"}}})
	}
	if s.recorded {
		s.pause(time.Second) // the scheduler receives nodes and pods through different watches
	}
}

// place creates a pod, and returns the node on which it is scheduled. The pod prefers nodes by their ranks, after inverting random
// bits of the ranks.
func (s *sampler) place(name string) (node string) {
	var preferred []any
	for bit := range rankBits {
		operator := []string{"Exists", "DoesNotExist"}[s.random.IntN(2)]
		for weight := 1 << bit; weight > 0; weight -= 64 { // which is 100 at most
			preferred = append(preferred, map[string]any{"weight": min(weight, 64), "preference": map[string]any{"matchExpressions": []any{
				map[string]any{"key": fmt.Sprint("rank-", bit), "operator": operator}}}})
		}
	}
	s.create("namespaces/default/pods", map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{
		"containers":  []any{map[string]any{"name": "web", "image": "nginx"}},
		"tolerations": []any{map[string]any{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}},
		"affinity":    map[string]any{"nodeAffinity": map[string]any{"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}})
	for range 6000 {
		var pod struct{ Spec struct{ NodeName string } }
		if err := json.Unmarshal(s.do(http.MethodGet, "namespaces/default/pods/"+name, nil), &pod); err != nil {
			s.t.Fatal(err)
		}
		if pod.Spec.NodeName != "" {
			return pod.Spec.NodeName
		}
		if !s.recorded {
			break
		}
		s.pause(10 * time.Millisecond)
	}
	s.t.Fatalf("%s has no node", name)
	return ""
}

// pause waits in real time, for the real scheduler. No test without KUBESIM_SCHEDULER calls it.
func (s *sampler) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.t.Context().Done():
	}
}

func (s *sampler) create(path string, obj map[string]any) {
	body, err := json.Marshal(obj)
	if err != nil {
		s.t.Fatal(err)
	}
	s.do(http.MethodPost, path, body)
}

// do sends a request below /api/v1, and returns the body of the response.
func (s *sampler) do(method, path string, body []byte) []byte {
	is := is.New(s.t)
	q, err := http.NewRequestWithContext(s.t.Context(), method, s.srv.URL()+"/api/v1/"+path, bytes.NewReader(body))
	is.NoErr(err)
	q.Header.Set("Content-Type", "application/json")
	answer, err := s.srv.Transport().RoundTrip(q)
	is.NoErr(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	is.NoErr(err)
	if answer.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s", method, path, text)
	}
	return text
}

// startScheduler starts a real scheduler that examines one node after the other.
func (s *sampler) startScheduler(program string) {
	is := is.New(s.t)
	s.recorded = true
	l, err := s.srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	dir := s.t.TempDir()
	files := map[string]string{
		"kubeconfig": fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],
"contexts":[{"name":"c","context":{"cluster":"c"}}]}`, l.URL()),
		"config": fmt.Sprintf(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","parallelism":1,
"leaderElection":{"leaderElect":false},"clientConnection":{"kubeconfig":%q}}`, filepath.Join(dir, "kubeconfig")),
	}
	for name, text := range files {
		is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	var log strings.Builder
	p := exec.Command(program, "--config", filepath.Join(dir, "config"), "--secure-port=0")
	p.Stdout, p.Stderr = &log, &log
	is.NoErr(p.Start())
	s.t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
		if s.t.Failed() {
			s.t.Log(log.String())
		}
	})
}
