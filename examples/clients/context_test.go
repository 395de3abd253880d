package clients

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// future is a revision that no write will reach in these tests.
const future = "999999999"

// A list at a future revision waits for that revision. The request's context ends the wait with nanosecond precision.
func TestContextEndsAListThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		_, client := start(t, fake.Options{Clock: clock.System{}})
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()

		_, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{ResourceVersion: future})
		is.True(errors.Is(err, context.DeadlineExceeded))
		is.Equal(time.Since(begin), 700*time.Millisecond)
	})
}

// Without a context, the server gives up after three seconds. client-go retries ten times, one second apart, as the response's
// Retry-After requests. In real time such a test would wait for 43 seconds.
func TestListOfTheFutureTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		_, client := start(t, fake.Options{Clock: clock.System{}})
		begin := time.Now()

		_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{ResourceVersion: future})
		is.True(apierrors.IsTimeout(err))
		is.True(apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)) // and says why
		is.Equal(time.Since(begin), 11*3*time.Second+10*time.Second)
	})
}
