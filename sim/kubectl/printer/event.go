package printer

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// LastSeen returns when an event was seen last.
func LastSeen(e object.Object) string {
	return cmp.Or(e.String("series", "lastObservedTime"), e.String("lastTimestamp"), e.String("eventTime"), e.String("metadata", "creationTimestamp"))
}

// Since returns how long ago an event was, and how often it has been seen.
func Since(now time.Time, e object.Object) string {
	first := cmp.Or(e.String("firstTimestamp"), e.String("eventTime"))
	text := Age(now, cmp.Or(e.String("lastTimestamp"), first))
	n := e.Int64("count")
	if last := e.String("series", "lastObservedTime"); last != "" {
		n, text = e.Int64("series", "count"), Age(now, last)
	}
	if n > 1 {
		return fmt.Sprintf("%s (x%d over %s)", text, n, Age(now, first))
	}
	return text
}

// Age returns how long ago a time was.
func Age(now time.Time, text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "<unknown>"
	}
	return codec.HumanDuration(now.Sub(t))
}
