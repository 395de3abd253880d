package clients

import (
	"testing"
	"testing/synctest"
	"time"

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

// The watch breaks, objects are created and deleted, and the history is compacted. The informer cannot resume its watch: it gets
// 410 Expired, lists again, and has the current state, including deletions whose events it missed.
func TestInformerSurvivesCompactionAndABrokenWatch(t *testing.T) {
	for name, watchList := range map[string]bool{"with WatchList": true, "with List and Watch": false} {
		t.Run(name, func(t *testing.T) {
			featurestesting.SetFeatureDuringTest(t, features.WatchListClient, watchList)
			synctest.Test(t, surviveCompaction)
		})
	}
}

func surviveCompaction(t *testing.T) {
	is := is.New(t)
	srv, client := start(t, fake.Options{Clock: clock.System{}})
	mustCreate(t, client, "stays")
	mustCreate(t, client, "goes")

	log := &requests{next: srv.Transport()}
	network := newCable(log)
	cut := config(srv)
	cut.Transport = network
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(cut), 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps()
	var deleted []string
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(object any) {
		key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		deleted = append(deleted, key)
	}})
	is.NoErr(err)
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	cache.WaitForCacheSync(t.Context().Done(), informer.Informer().HasSynced)

	network.Cut()
	is.NoErr(client.CoreV1().ConfigMaps("default").Delete(t.Context(), "goes", metav1.DeleteOptions{}))
	mustCreate(t, client, "comes")
	srv.Expire() // the store and the watch caches forget what happened
	time.Sleep(time.Second)
	network.Mend()
	time.Sleep(2 * time.Minute) // the reflector's back-off is at most 30 s, or a little more
	synctest.Wait()

	lists, watchLists := log.fills()
	is.Equal(lists+watchLists, 2) // it asked for the whole state once more

	cached, err := informer.Lister().List(labels.Everything())
	is.NoErr(err)
	names := map[string]bool{}
	for _, c := range cached {
		names[c.Name] = true
	}
	is.Equal(names, map[string]bool{"stays": true, "comes": true}) // the cache is right again
	is.Equal(deleted, []string{"default/goes"})                    // and the handlers heard of the deletion
}
