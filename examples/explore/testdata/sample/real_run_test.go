package main

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	clientset "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/fake/record"
)

// recording is a run of the controller over a real API server with kube-controller-manager.
const recording = "real_run.recording"

// recordFrom is the address of a new real API server (make real CONTROLLERS=1). If it is given, no test runs, and the recording is
// replaced.
var recordFrom = flag.String("record", "", "record a run over the real API server at this address")

// TestRealRunReplays checks that the controller asks a server that replays the recording what it has asked the real server.
func TestRealRunReplays(t *testing.T) {
	file, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	entries, err := record.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		replay, memory := record.NewReplay(entries, clock.System{}), listen.NewMemory()
		server := &http.Server{Handler: replay}
		go func() { _ = server.Serve(memory) }() // it ends with Close
		transport := &http.Transport{DialContext: memory.DialContext}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- operate(ctx, &rest.Config{Host: "http://replay.invalid", Transport: transport, QPS: -1}, resync)
		}()
		time.Sleep(entries[len(entries)-1].At.Sub(entries[0].At))
		if found := replay.Differences(); len(found) > 0 {
			t.Error(strings.Join(found, "\n"))
		}
		stop()
		if err := errors.Join(<-ended, server.Close()); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
}

// realRun repeats the recording, without faults and then under faults: other clients repeat their writes from the real server.
func realRun(t *testing.T, o fake.ExploreOptions, run func(context.Context, *rest.Config) error) {
	t.Helper()
	rec := fake.ReadRecording(t, recording)
	o.Server = fake.Options{Bare: true}
	o.Prepare = func(t fake.T, srv *fake.Server) { rec.Begin(t, srv) }
	fake.Explore(t, o, func(t fake.T, srv *fake.Server) {
		srv.Process(rec.Program, func(ctx context.Context, transport http.RoundTripper) error {
			return run(ctx, &rest.Config{Host: srv.URL(), Transport: transport, QPS: -1})
		})
		rec.Play(t, srv, 30*time.Minute)
	})
}

// TestRealRun checks that the controller's objects become what they were over the real server, under any faults.
func TestRealRun(t *testing.T) {
	realRun(t, fake.ExploreOptions{Seeds: 50}, func(ctx context.Context, config *rest.Config) error { return operate(ctx, config, resync) })
}

// swallowing is a transport that turns a failed update of a Deployment into a success, as a controller does that ignores the error.
type swallowing struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s swallowing) RoundTrip(q *http.Request) (*http.Response, error) {
	var sent *http.Request
	if q.Method == http.MethodPut && strings.Contains(q.URL.Path, "/deployments/") {
		body, err := q.GetBody()
		if err != nil {
			return nil, err
		}
		sent = q.Clone(q.Context())
		sent.Body = body
	}
	answer, err := s.RoundTripper.RoundTrip(q)
	if sent == nil || err == nil && answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	if answer != nil {
		_ = answer.Body.Close()
	}
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": sent.Header["Content-Type"]},
		Body: sent.Body, ContentLength: sent.ContentLength, Request: q}, nil
}

// TestRealRunFindsBug checks that faults find a bug, although the recording was made with the controller as it is.
func TestRealRunFindsBug(t *testing.T) {
	var found *explore.Report
	o := fake.ExploreOptions{Seeds: 500, Repeat: 1, Found: func(r *explore.Report) { found = r }}
	realRun(t, o, func(ctx context.Context, config *rest.Config) error {
		config.Transport = swallowing{config.Transport}
		return operate(ctx, config, 0) // otherwise the next resync hides the bug
	})
	if found == nil {
		t.Fatal("no seed found the bug")
	}
	t.Log(found)
	if !strings.Contains(found.String(), "the objects differ from those at the end of the recording") || len(found.Calm.Failures) > 0 {
		t.Error("the report does not describe the bug")
	}
}

// recordRun records the controller over a real API server, while a user creates a Foo and scales it, and its pods become ready.
func recordRun(url string) error {
	ctx := context.Background()
	config := &rest.Config{Host: url, BearerToken: os.Getenv("KUBESIM_TOKEN"), QPS: -1}
	kube, foos := kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1().Foos("default")
	text, err := os.ReadFile(filepath.Join(os.Getenv("SAMPLE"), "artifacts/examples/crd-status-subresource.yaml"))
	if err != nil {
		return err
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &crd.Object); err != nil {
		return err
	}
	definitions := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := definitions.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	clock.System{}.Sleep(10 * time.Second)
	file, err := os.Create(recording)
	if err != nil {
		return err
	}
	to := record.To(file)
	recorded := rest.CopyConfig(config)
	recorded.WrapTransport = to.Wrap
	running, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- operate(running, recorded, resync) }()
	clock.System{}.Sleep(5 * time.Second)
	foo, err := foos.Create(ctx, &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "foo"}, Spec: v1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(1))}}, metav1.CreateOptions{})
	for _, replicas := range []int32{3, 2} {
		err = errors.Join(err, runPods(ctx, kube))
		if foo, err = foos.Get(ctx, "foo", metav1.GetOptions{}); err == nil {
			foo.Spec.Replicas = &replicas
			_, err = foos.Update(ctx, foo, metav1.UpdateOptions{})
		}
	}
	err = errors.Join(err, runPods(ctx, kube))
	stop()
	return errors.Join(err, <-ended, to.Err(), file.Close())
}

// runPods reports that all pods run, as a kubelet would, and waits until the controllers have seen it.
func runPods(ctx context.Context, kube kubernetes.Interface) error {
	clock.System{}.Sleep(5 * time.Second)
	pods, err := kube.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning {
			continue
		}
		running := `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
		if _, err := kube.CoreV1().Pods("default").Patch(ctx, pod.Name, types.MergePatchType, []byte(running), metav1.PatchOptions{}, "status"); err != nil {
			return err
		}
	}
	clock.System{}.Sleep(5 * time.Second)
	return nil
}
