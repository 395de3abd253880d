package fakes

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watched starts a watch and returns a function that returns its next event, such as "ADDED a".
func (s *server) watched(options metav1.ListOptions) (next func() string) {
	s.t.Helper()
	is := is.New(s.t)
	w, err := s.configMaps().Watch(s.ctx, options)
	is.NoErr(err)
	s.t.Cleanup(w.Stop)
	return func() string {
		event, open := <-w.ResultChan()
		is.True(open) // the watch goes on
		return fmt.Sprint(event.Type, " ", event.Object.(*corev1.ConfigMap).Name)
	}
}

// now returns the resourceVersion of a list.
func (s *server) now() string {
	s.t.Helper()
	list, err := s.configMaps().List(s.ctx, metav1.ListOptions{})
	is.New(s.t).NoErr(err)
	return list.ResourceVersion
}

func TestClientGoWatches(t *testing.T) {
	sendInitialEvents := true
	each(t, []probe{
		// The selector is ignored.
		{"watch with a label selector", func(is *is.I, s *server) {
			next := s.watched(metav1.ListOptions{LabelSelector: "color=red", ResourceVersion: s.now()})
			s.mustCreate("other", labelled("blue"))
			c := s.mustCreate("a", labelled("red"))
			is.Equal(next(), "ADDED a") // no event of the blue one
			c.Labels["color"] = "blue"
			_, err := s.configMaps().Update(s.ctx, c, metav1.UpdateOptions{})
			is.NoErr(err)
			is.Equal(next(), "DELETED a") // for this watch, it is gone
		}},
		// The event is lost.
		{"delete between list and watch", func(is *is.I, s *server) {
			s.mustCreate("a")
			from := s.now()
			is.NoErr(s.configMaps().Delete(s.ctx, "a", metav1.DeleteOptions{}))
			is.Equal(s.watched(metav1.ListOptions{ResourceVersion: from})(), "DELETED a")
		}},
		// The event arrives as ADDED.
		{"update between list and watch", func(is *is.I, s *server) {
			c := s.mustCreate("a")
			from := s.now()
			c.Data["key"] = "2"
			_, err := s.configMaps().Update(s.ctx, c, metav1.UpdateOptions{})
			is.NoErr(err)
			is.Equal(s.watched(metav1.ListOptions{ResourceVersion: from})(), "MODIFIED a")
		}},
		// ADDED events arrive, but no bookmark at their end.
		{"watch with sendInitialEvents", func(is *is.I, s *server) {
			s.mustCreate("a")
			w, err := s.configMaps().Watch(s.ctx, metav1.ListOptions{
				SendInitialEvents: &sendInitialEvents, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			})
			is.NoErr(err)
			defer w.Stop()
			is.Equal((<-w.ResultChan()).Type, watch.Added)
			bookmark := <-w.ResultChan()
			is.Equal(bookmark.Type, watch.Bookmark)
			is.Equal(bookmark.Object.(*corev1.ConfigMap).Annotations[metav1.InitialEventsAnnotationKey], "true")
		}},
		// Panics with "channel full".
		{"500 events that nobody has read yet", func(is *is.I, s *server) {
			next := s.watched(metav1.ListOptions{ResourceVersion: s.now()})
			for n := range 500 {
				s.mustCreate(fmt.Sprintf("c-%d", n))
			}
			for n := range 500 {
				is.Equal(next(), fmt.Sprintf("ADDED c-%d", n)) // they wait, in order
			}
		}},
	})
}
