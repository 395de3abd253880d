package controllers

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
)

// A manager tolerates the random faults that can occur in a correct cluster, whatever the seed. The faults do not affect discovery,
// because the manager's RESTMapper requests it while holding a lock: if other goroutines wait for that lock, time does not advance
// in the bubble, and a delayed response would never arrive.
func TestManagerUnderRandomFaults(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Seed: seed, Replicas: make([]fake.ReplicaOptions, 2)})
				c, err := client.New(config(srv), client.Options{})
				is.NoErr(err)
				site := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog"}, Data: map[string]string{"image": "blog:1"}}
				is.NoErr(c.Create(t.Context(), site))
				srv.Faults.Add(fault.Swarm{Replicas: 2}.Plan(seed, 8)...)
				run(t, config(srv))
				time.Sleep(10 * time.Minute)
				srv.Faults.Clear()
				time.Sleep(10 * time.Minute)
				is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(site), &appsv1.Deployment{})) // the controller made it
			})
		})
	}
}
