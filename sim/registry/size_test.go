package registry

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// The sizes are those in the errors of a real server: apply/too-large has the requests.
func TestTransactionSize(t *testing.T) {
	for _, tc := range []struct {
		why    string
		n      int
		before uint64
		want   int
		s      string
	}{
		{"a new object has two parts", 100, 0, 152, ""},
		{"one that is there has three, and its revision", 100, 300, 177, ""},
		{"etcd refuses more than its limit", requestMax, 0, requestMax + 58, "etcdserver: request is too large"},
		{"its client sends less than its own", sendMax, 0, sendMax + 61, "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097213 vs. 2097152)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			is := is.New(t)
			key := "/registry/pods/n/a"
			is.Equal(transactionSize(key, tc.n, tc.before), tc.want)
			s := oversized(key, tc.n, tc.before)
			is.Equal(s != nil, tc.s != "") // refused
			if s != nil {
				is.True(strings.Contains(string(s.Message), tc.s))
			}
		})
	}
}
