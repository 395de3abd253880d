package flags

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/config"
)

// Every field in a row is a field of config.Cluster that the flag can set.
func TestFieldsAreSet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	is.New(t).NoErr(os.WriteFile(file, []byte("text"), 0o600))
	n := 0
	for _, f := range All() {
		if !f.Sets() {
			continue
		}
		n++
		t.Run(f.Name, func(t *testing.T) {
			is := is.New(t)
			value := map[string]string{"": strconv.FormatBool(!f.negated), "int": "7", "duration": "7s", "ip": "127.0.0.1"}[f.Kind]
			if value == "" {
				value = file
			}
			is.NoErr(f.Check(value))
			var c, zero config.Cluster
			is.NoErr(f.Set(&c, []string{value}))
			is.True(!reflect.DeepEqual(c, zero))
			is.NoErr(f.Set(&zero, nil)) // a flag that was not given
			is.True(reflect.DeepEqual(zero, config.Cluster{}))
		})
	}
	is.New(t).True(n > 20)
}

func TestSet(t *testing.T) {
	is := is.New(t)
	var c config.Cluster
	set := func(name string, values ...string) { is.NoErr(Find(name).Set(&c, values)) }
	set("min-request-timeout", "5", "7") // seconds; the last counts
	set("request-timeout", "90s")
	is.Equal([]time.Duration{c.MinRequestTimeout, c.RequestTimeout}, []time.Duration{7 * time.Second, 90 * time.Second})
	set("api-audiences", "a, b", "c")                 // a list
	set("service-account-issuer", "https://a,b", "c") // each value is one
	is.Equal(c.ServiceAccounts.Audiences, []string{"a", "b", "c"})
	is.Equal(c.ServiceAccounts.Issuers, []string{"https://a,b", "c"})
	is.True(Find("client-ca-file").Set(&c, []string{"/nowhere"}) != nil)
	set("client-ca-file", "")
	is.True(c.ClientCA == nil)
	is.True(Find("insecure-port") == nil)
}
