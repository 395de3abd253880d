package clients

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// Changes between a list and the watch that continues from it are delivered: creations, updates and deletions, in order and with
// the right names. Lists and watches have the same history. See kubernetes/kubernetes#87472 (creations), #135953 (updates) and
// #141528 (deletions) for fakes that miss them.
func TestNothingIsLostBetweenListAndWatch(t *testing.T) {
	is := is.New(t)
	_, client := start(t)
	configMaps := client.CoreV1().ConfigMaps("default")
	mustCreate(t, client, "changes")
	mustCreate(t, client, "goes")

	list, err := configMaps.List(t.Context(), metav1.ListOptions{})
	is.NoErr(err)
	inTheGap(t, client)

	w, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	is.NoErr(err)
	defer w.Stop()
	var got []string
	for range 3 {
		event := <-w.ResultChan()
		got = append(got, string(event.Type)+" "+event.Object.(*corev1.ConfigMap).Name)
	}
	is.Equal(got, []string{string(watch.Added) + " comes", string(watch.Modified) + " changes", string(watch.Deleted) + " goes"})
}

// inTheGap creates, updates and deletes objects.
func inTheGap(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	is := is.New(t)
	configMaps := client.CoreV1().ConfigMaps("default")
	mustCreate(t, client, "comes")
	_, err := configMaps.Update(t.Context(), configMap("changes", "2"), metav1.UpdateOptions{})
	is.NoErr(err)
	is.NoErr(configMaps.Delete(t.Context(), "goes", metav1.DeleteOptions{}))
}

// beforeWatch is a RoundTripper that calls a function once, just before the first watch.
type beforeWatch struct {
	next http.RoundTripper
	once sync.Once
	do   func()
}

func (b *beforeWatch) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Has("watch") {
		b.once.Do(b.do)
	}
	return b.next.RoundTrip(r)
}

// An informer that lists and then watches also receives all changes between the two.
func TestInformerLosesNothingBetweenListAndWatch(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv, client := start(t, fake.Options{Clock: clock.System{}})
		mustCreate(t, client, "changes")
		mustCreate(t, client, "goes")

		slow := config(srv)
		slow.Transport = &beforeWatch{next: srv.Transport(), do: func() { inTheGap(t, client) }}
		factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(slow), 0, informers.WithNamespace("default"))
		informer := factory.Core().V1().ConfigMaps()
		hasSynced := informer.Informer().HasSynced
		factory.Start(t.Context().Done())
		t.Cleanup(factory.Shutdown)
		cache.WaitForCacheSync(t.Context().Done(), hasSynced)
		synctest.Wait()

		cached, err := informer.Lister().List(labels.Everything())
		is.NoErr(err)
		got := map[string]string{}
		for _, c := range cached {
			got[c.Name] = c.Data["key"]
		}
		is.Equal(got, map[string]string{"comes": "1", "changes": "2"})
	})
}
