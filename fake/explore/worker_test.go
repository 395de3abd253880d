package explore

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

// A worker that waits for a processor half of the time is checked half as often.
func TestCouldRun(t *testing.T) {
	is := is.New(t)
	for _, tt := range []struct{ waited, seconds, checks int }{{0, 10, 10}, {500, 10, 5}, {900, 10, 1}, {1000, 10, 0}, {2500, 10, 0}, {-300, 10, 10}} {
		c, checks, queued := couldRun{queued: time.Minute}, 0, time.Minute
		for range tt.seconds {
			queued += time.Duration(tt.waited) * time.Millisecond
			if c.tick(queued) {
				checks++
			}
		}
		is.Equal(checks, tt.checks)
	}
}
