package answer

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/kubesim/kubesim/sim/status"
)

// WriteStatus answers with a Status.
func WriteStatus(w http.ResponseWriter, s *status.Status) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(s.Details.RetryAfterSeconds))
	}
	w.WriteHeader(s.Code)
	_, _ = w.Write(s.JSON()) // a client that went away is no error of the server
}

// tooManyWatches is the answer to a watch beyond the greatest number of them.
func tooManyWatches(most int64) *status.Status {
	return status.TooManyRequests(fmt.Sprintf("kubesim: too many watches: this listener serves %d at a time (--max-watches)", most), 1)
}

// quota limits how many of something exist at a time. A nil quota has no limit.
type quota struct {
	max  int64
	used atomic.Int64
}

// take reports whether there may be one more; give ends it.
func (q *quota) take() bool {
	if q == nil || q.used.Add(1) <= q.max {
		return true
	}
	q.used.Add(-1)
	return false
}

func (q *quota) give() {
	if q != nil {
		q.used.Add(-1)
	}
}
