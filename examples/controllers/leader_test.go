package controllers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// candidate runs for leader until its context ends, and sends its name when it becomes the leader.
func candidate(ctx context.Context, client kubernetes.Interface, name string, leads chan<- string) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "controller"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leads <- name },
			OnStoppedLeading: func() {},
		},
	})
}

// Two candidates share a Lease. The leader stops without releasing it. When the lease has expired, the other candidate takes over.
func TestLeaderElectionTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		client := kubernetes.NewForConfigOrDie(config(srv))
		leads := make(chan string, 2)

		first, crash := context.WithCancel(t.Context())
		go candidate(first, client, "one", leads)
		is.Equal(<-leads, "one")
		second, stop := context.WithCancel(t.Context())
		defer stop()
		go candidate(second, client, "two", leads)

		time.Sleep(time.Hour)
		lease, err := client.CoordinationV1().Leases("default").Get(t.Context(), "controller", metav1.GetOptions{})
		is.NoErr(err)
		is.Equal(*lease.Spec.HolderIdentity, "one")                     // it has renewed its lease for an hour
		is.True(time.Since(lease.Spec.RenewTime.Time) <= 2*time.Second) // and just now

		crash()
		begin := time.Now()
		is.Equal(<-leads, "two")
		took := time.Since(begin)
		is.True(took >= 13*time.Second && took <= 24*time.Second) // the rest of the lease, and client-go's retries at random intervals
		lease, err = client.CoordinationV1().Leases("default").Get(t.Context(), "controller", metav1.GetOptions{})
		is.NoErr(err)
		is.Equal(*lease.Spec.LeaseTransitions, int32(1))
	})
}
