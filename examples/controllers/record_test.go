package controllers

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/fake/record"
)

// A controller that is served from the recording of its run sends the same requests, although the users that acted in that run are
// absent. Differences reports the requests of a controller that uses another image.
func TestRecordingReplays(t *testing.T) {
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		user, err := client.New(config(srv), client.Options{})
		is.NoErr(err)
		recorded := config(srv)
		recorded.WrapTransport = record.To(&file).Wrap
		run(t, recorded)
		settle()
		site := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog"}, Data: map[string]string{"image": "blog:1"}}
		is.NoErr(user.Create(t.Context(), site))
		time.Sleep(time.Minute)
		d := &appsv1.Deployment{}
		is.NoErr(user.Get(t.Context(), client.ObjectKeyFromObject(site), d))
		d.Spec.Template.Spec.Containers[0].Image = "changed"
		is.NoErr(user.Update(t.Context(), d))
		time.Sleep(time.Hour)
		is.NoErr(user.Delete(t.Context(), site))
		settle()
	})
	is := is.New(t)
	entries, err := record.Read(bytes.NewReader(file.Bytes()))
	is.NoErr(err)
	story, err := record.Scenario(entries)
	is.NoErr(err)
	_, story, _ = strings.Cut(story, "\ntick ") // the first change that the controller saw
	is.True(strings.HasPrefix(story, "1s\nrequest POST '/api/v1/namespaces/default/configmaps' -f 2.yaml --as others\n"))
	writes := 0
	for _, e := range entries {
		if e.Request != nil && e.Request.Method != http.MethodGet {
			writes++
		}
	}
	is.Equal(writes, 2) // it has created the Deployment, and has reverted the user's change
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		replay := record.NewReplay(entries, clock.System{})
		memory := listen.NewMemory()
		server := &http.Server{Handler: replay}
		go func() { _ = server.Serve(memory) }() // it ends with Close
		transport := &http.Transport{DialContext: memory.DialContext}
		t.Cleanup(func() { is.NoErr(server.Close()); transport.CloseIdleConnections() }) // after the manager has ended
		run(t, &rest.Config{Host: "http://replay.invalid", Transport: transport, QPS: -1})
		time.Sleep(2 * time.Hour)
		is.Equal(replay.Differences(), nil)
	})
}
