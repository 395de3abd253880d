package clients

import (
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// After one call every client that continues from the past gets 410, so that its handling can be tested. Many clients lack that
// code: see kr8s-org/kr8s#478.
func TestExpireAnswers410ToWatchesAndContinueTokens(t *testing.T) {
	is := is.New(t)
	srv, client := start(t)
	configMaps := client.CoreV1().ConfigMaps("default")
	for _, name := range []string{"a", "b", "c"} {
		mustCreate(t, client, name)
	}
	page, err := configMaps.List(t.Context(), metav1.ListOptions{Limit: 1})
	is.NoErr(err)
	mustCreate(t, client, "d")

	srv.Expire()

	w, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: page.ResourceVersion})
	is.NoErr(err) // the watch begins
	defer w.Stop()
	event := <-w.ResultChan()
	is.Equal(event.Type, watch.Error)                                        // and its first event says
	is.True(apierrors.IsResourceExpired(apierrors.FromObject(event.Object))) // that history is gone

	_, err = configMaps.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: page.Continue})
	is.True(apierrors.IsResourceExpired(err)) // the next page is gone, too
	var status apierrors.APIStatus
	is.True(errors.As(err, &status))
	fresh := status.Status().Continue // but the error has a token that goes on in a newer snapshot
	rest, err := configMaps.List(t.Context(), metav1.ListOptions{Continue: fresh})
	is.NoErr(err)
	is.Equal(len(rest.Items), 3) // b, c, and d, which the first page's snapshot did not have
}

// Continue tokens also expire with time: the store compacts revisions that are older than five to ten minutes, and the watch cache
// follows 15 s later.
func TestContinueTokensExpireWithTime(t *testing.T) {
	is := is.New(t)
	srv, client := start(t)
	configMaps := client.CoreV1().ConfigMaps("default")
	mustCreate(t, client, "a")
	mustCreate(t, client, "b")
	page, err := configMaps.List(t.Context(), metav1.ListOptions{Limit: 1})
	is.NoErr(err)
	mustCreate(t, client, "c")

	srv.Clock.Advance(11 * time.Minute)
	_, err = configMaps.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: page.Continue})
	is.True(apierrors.IsResourceExpired(err))
}
