package clients

import (
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// requests is a RoundTripper that records a client's requests.
type requests struct {
	next http.RoundTripper
	mu   sync.Mutex
	urls []*url.URL
}

func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.urls = append(r.urls, request.URL)
	r.mu.Unlock()
	return r.next.RoundTrip(request)
}

// fills returns the number of requests for the whole state: lists, and watches that begin with the state.
func (r *requests) fills() (lists, watchLists int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range r.urls {
		switch q := u.Query(); {
		case q.Has("sendInitialEvents"):
			watchLists++
		case !q.Has("watch"):
			lists++
		}
	}
	return lists, watchLists
}

// An informer fills its cache by a watch that begins with the state (WatchList, client-go's default since 1.35), or by a list and a
// watch. Both work, and take no virtual time at all.
func TestInformerSyncsAndFollows(t *testing.T) {
	for name, watchList := range map[string]bool{"with WatchList": true, "with List and Watch": false} {
		t.Run(name, func(t *testing.T) {
			featurestesting.SetFeatureDuringTest(t, features.WatchListClient, watchList)
			synctest.Test(t, func(t *testing.T) { syncAndFollow(t, watchList) })
		})
	}
}

func syncAndFollow(t *testing.T, watchList bool) {
	is := is.New(t)
	srv, client := start(t, fake.Options{Clock: clock.System{}}) // package time: virtual in here
	mustCreate(t, client, "before")

	log := &requests{next: srv.Transport()}
	logged := config(srv)
	logged.Transport = log
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(logged), 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps()
	hasSynced := informer.Informer().HasSynced
	factory.Start(t.Context().Done()) // a channel of this bubble; wait.NeverStop would stop time
	t.Cleanup(factory.Shutdown)       // waits for the informer's end, after t.Context is cancelled
	is.True(cache.WaitForCacheSync(t.Context().Done(), hasSynced))
	lists, watchLists := log.fills()
	is.Equal(lists == 1, !watchList) // how the informer got its state
	is.Equal(watchLists == 1, watchList)

	mustCreate(t, client, "after")
	synctest.Wait() // the event has arrived when nothing moves any more
	cached, err := informer.Lister().List(labels.Everything())
	is.NoErr(err)
	is.Equal(len(cached), 2) // the existing object and the new one

	is.NoErr(client.CoreV1().ConfigMaps("default").Delete(t.Context(), "before", metav1.DeleteOptions{}))
	synctest.Wait()
	_, err = informer.Lister().ConfigMaps("default").Get("before")
	is.True(err != nil) // the cache forgot it
}
