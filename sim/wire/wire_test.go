package wire

import (
	"net/http"
	"testing"

	"github.com/matryer/is"
)

func FuzzCanonical(f *testing.F) {
	for _, name := range []string{"content-type", "Content-Type", "X-Remote-Extra-acme.com%2Fproject", "a b", "ETAG", "-x-", "ü", "@x", "`X"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		is := is.New(t)
		is.Equal(canonical(name), http.CanonicalHeaderKey(name)) // as net/http writes it
	})
}

func TestHeader(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(TimeFormat, http.TimeFormat)
	h := Header{}
	h.Add("warning", "1")
	h.Add("Warning", "2")
	copied := h.Clone()
	h.Set("WARNING", "3")
	is.Equal(copied.Values("warning"), []string{"1", "2"}) // a copy stays as it was
	is.Equal(h.Get("Warning"), "3")
	h.Del("warning")
	is.Equal(h.Get("Warning"), "")
}

func TestCanonicalNameIsNotWrittenAnew(t *testing.T) {
	is := is.New(t)
	is.Equal(testing.AllocsPerRun(10, func() { canonical("Content-Type") }), 0.0)
}
