package dropin

import (
	"strings"
	"testing"
)

// FuzzFlags parses arbitrary command lines: no argument is lost, and each error has a message.
func FuzzFlags(f *testing.F) {
	for _, seed := range []string{"--etcd-servers=http://127.0.0.1:1 --bind-address 127.0.0.1 -v=3", "--secure-port 99999999", "--feature-gates A=x,=,B",
		"--service-cluster-ip-range=::/0", "-- -", "---x=y --v", "--token-auth-file /nowhere --authorization-mode=,", "--cert-dir /nowhere --advertise-address x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		s := parse(args, isBool)
		n := len(s.without)
		for _, values := range s.values { // order does not matter
			n += len(values)
		}
		if n > len(args) || n == 0 && len(args) > 0 {
			t.Fatalf("%q: %d arguments of %d", line, n, len(args))
		}
		if strings.Contains(line, "file") || strings.Contains(line, "dir") {
			return // depends on this machine
		}
		if o, err := read(args); o == nil && err == nil || err != nil && err.Error() == "" {
			t.Fatalf("%q: %v, %v", line, o, err)
		}
	})
}
