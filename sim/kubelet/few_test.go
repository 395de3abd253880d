package kubelet

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/matryer/is"
)

// TestFew compares few with a map, also after both were stored as JSON.
func TestFew(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var f few[int]
		var m map[string]int
		for range r.IntN(12) {
			name, value := fmt.Sprintf("c%d", r.IntN(6)), r.IntN(100)
			if m == nil {
				m = map[string]int{}
			}
			f.set(name, value)
			m[name] = value
		}
		text, err := json.Marshal(f)
		is.NoErr(err)
		want, err := json.Marshal(m)
		is.NoErr(err)
		is.Equal(string(text), string(want))
		var read few[int]
		is.NoErr(json.Unmarshal(text, &read))
		for _, f := range []few[int]{f, read} {
			is.Equal(len(f), len(m))
			for name, value := range m {
				is.Equal(f.get(name), value)
			}
			_, ok := f.lookup("none")
			is.True(!ok)
		}
	}
	is.True(json.Unmarshal([]byte(`{"a":"text"}`), new(few[int])) != nil)
}
