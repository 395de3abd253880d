package spelling_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/spelling"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"get", "describe", "delete"}
	for text, want := range map[string]string{"gte": "get", "descrbe": "describe", "delet": "delete", "create": "", "x": ""} {
		t.Run(text, func(t *testing.T) {
			is.New(t).Equal(spelling.Nearest(text, names), want)
		})
	}
}
