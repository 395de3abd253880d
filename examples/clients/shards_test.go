package clients

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/fake"
)

// Two informers, each of one half of the hashes, together have each object once, whether it existed before
// them or is created later (KEP-5866).
func TestInformersOfShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Replicas: []fake.ReplicaOptions{{FeatureGates: map[string]bool{"ShardedListAndWatch": true}}}})
		client, err := kubernetes.NewForConfig(&rest.Config{Host: srv.URL(), Transport: srv.Transport()})
		is.NoErr(err)
		create := func(i int) {
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m-%d", i)}}, metav1.CreateOptions{})
			is.NoErr(err)
		}
		for i := range 10 {
			create(i)
		}
		var stores []cache.Store
		for _, bounds := range [][2]string{{"0x0000000000000000", "0x8000000000000000"}, {"0x8000000000000000", "0x10000000000000000"}} {
			factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"), informers.WithTweakListOptions(func(o *metav1.ListOptions) {
				o.ShardSelector = fmt.Sprintf("shardRange(object.metadata.uid, '%s', '%s')", bounds[0], bounds[1])
			}))
			informer := factory.Core().V1().ConfigMaps().Informer()
			factory.Start(t.Context().Done())
			factory.WaitForCacheSync(t.Context().Done())
			stores = append(stores, informer.GetStore())
		}
		for i := range 10 {
			create(10 + i)
			is.NoErr(client.CoreV1().ConfigMaps("default").Delete(t.Context(), fmt.Sprintf("m-%d", i), metav1.DeleteOptions{}))
		}
		time.Sleep(time.Second)
		for i := range 20 {
			in := 0
			for _, s := range stores {
				if _, ok, _ := s.GetByKey(fmt.Sprintf("default/m-%d", i)); ok {
					in++
				}
			}
			is.Equal(in, i/10) // the first ten are deleted
		}
		is.True(len(stores[0].ListKeys()) > 1 && len(stores[1].ListKeys()) > 1)
	})
}
