package clients

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// On a day with an event each hour, about 190 watches time out and are restarted, and the store is compacted 288 times. The
// informer misses no event. The day takes a few milliseconds of real time.
func TestInformerRunsADayInMilliseconds(t *testing.T) {
	begin := time.Now() // outside of the bubble: real time
	synctest.Test(t, dayOfAnInformer)
	t.Logf("24 hours took %v", time.Since(begin))
}

func dayOfAnInformer(t *testing.T) {
	is := is.New(t)
	_, client := start(t, fake.Options{Clock: clock.System{}}) // package time: virtual in here
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	var added atomic.Int64
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { added.Add(1) }})
	is.NoErr(err)
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)

	begin := time.Now()
	for hour := range 24 {
		time.Sleep(time.Hour)
		mustCreate(t, client, fmt.Sprintf("hour-%d", hour))
		synctest.Wait()
		is.Equal(added.Load(), int64(hour+1)) // each event arrives at once
	}
	is.Equal(time.Since(begin), 24*time.Hour) // to the nanosecond: nothing but the test let time pass
}

// BenchmarkDay measures the real time of a day. The goal is less than 100 ms.
func BenchmarkDay(b *testing.B) {
	for b.Loop() {
		ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{
			{Name: "day", F: func(t *testing.T) { synctest.Test(t, dayOfAnInformer) }},
		})
		if !ok {
			b.Fatal("the day did not pass")
		}
	}
}
