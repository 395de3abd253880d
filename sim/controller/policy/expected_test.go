package policy

import (
	"testing"

	"github.com/matryer/is"
)

func TestShare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		v           any
		whole, want int64
	}{
		{int64(3), 10, 3}, {"0%", 10, 0}, {"30%", 10, 3}, {"25%", 10, 3}, {"1%", 3, 1}, {"100%", 7, 7}, {"50%", 0, 0},
	} {
		is.New(t).Equal(share(test.v, test.whole), test.want)
	}
}
