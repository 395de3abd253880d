package configfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

var kind = Kind{Group: "example.com", Kind: "Config", Versions: []string{"v1", "v1beta1"}}

type config struct {
	Name  string   `json:"name"`
	Every Duration `json:"every"`
}

// TestDecode checks which files are accepted, and the errors of the others.
func TestDecode(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: example.com/v1\nkind: Config\n"
	for _, c := range []struct{ text, err string }{
		{head + "name: a\nevery: 5m", ""},
		{"", "empty config data"},
		{"apiVersion: example.com/v1", `Object 'Kind' is missing in '{"apiVersion":"example.com/v1"}'`},
		{"apiVersion: example.com/v2\nkind: Config", `no kind "Config" is registered for version "example.com/v2" in scheme "pkg/runtime/scheme.go:111"`},
		{"apiVersion: other/v1\nkind: Config", `no kind "Config" is registered for version "other/v1" in scheme "pkg/runtime/scheme.go:111"`},
		{head + "nam: a", `strict decoding error: unknown field "nam"`},
		{head + "every: 5", "json: cannot unmarshal number into Go struct field config.every of type string"},
		{head + "every: 5x", `time: unknown unit "x" in duration "5x"`},
		{head + "name: a\nname: b", "couldn't get version/kind; yaml: unmarshal errors:\n  line 4: key \"name\" already set in map"},
	} {
		t.Run(c.text, func(t *testing.T) {
			is := is.New(t)
			var got config
			version, err := kind.Decode([]byte(c.text), &got)
			if c.err != "" {
				is.True(err != nil)
				is.Equal(err.Error(), c.err)
				return
			}
			is.NoErr(err)
			is.Equal(version, "v1")
			is.Equal(got, config{"a", Duration(5 * time.Minute)})
		})
	}
}

// TestChanged checks that a file that cannot be read counts as unchanged.
func TestChanged(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	f := Watched{Name: filepath.Join(t.TempDir(), "f")}
	is.True(!f.Changed())
	is.NoErr(os.WriteFile(f.Name, []byte("a"), 0o600))
	is.True(f.Changed())
	is.True(!f.Changed())
	is.NoErr(os.WriteFile(f.Name, []byte("ab"), 0o600))
	is.True(f.Changed())
	is.NoErr(os.Remove(f.Name))
	is.True(!f.Changed())
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("apiVersion: example.com/v1\nkind: Config\nname: a\nevery: 5m"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c config
		_, _ = kind.Decode(data, &c)
	})
}
