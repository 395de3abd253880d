package flags

import (
	"testing"

	"github.com/kubesim/kubesim/sim/config"
)

// FuzzSet sets flags to arbitrary values. It checks that any value that Check accepts can be set, unless it names a
// file that does not exist.
func FuzzSet(f *testing.F) {
	f.Add(0, "a,b")
	f.Add(17, "90s")
	f.Add(40, "false")
	f.Add(41, "/nowhere")
	f.Fuzz(func(t *testing.T, n int, value string) {
		all := All()
		flag := &all[uint(n)%uint(len(all))]
		if flag.Check(value) != nil || flag.Failure != "" || flag.Name == "admission-control-config-file" {
			return
		}
		if err := flag.Set(&config.Cluster{}, []string{value}); err != nil && flag.Kind != "" {
			t.Fatalf("--%s=%q: %v", flag.Name, value, err)
		}
	})
}
