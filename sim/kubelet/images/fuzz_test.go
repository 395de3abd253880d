package images

import (
	"testing"

	"github.com/kubesim/kubesim/sim/object"
)

// FuzzScript parses annotations of a pod. The result must be a valid Image or an error with a message.
func FuzzScript(f *testing.F) {
	for name, value := range map[string]string{"exit-code": "3", "start-delay": "5s", "cpu": "100m", "exec": "ls=a\nb", "unhealthy-after": "1m",
		"log": "a\n+5s b\n*10s c", "memory": "64Mi", "exit-after": "1h", "ready-after": "0s"} { // order does not matter
		f.Add(name, value, "true")
	}
	f.Add("log", "*0s x\n+-1s y", "-9223372036854775808ns")
	f.Fuzz(func(t *testing.T, name, value, other string) {
		pod := object.Object{"metadata": map[string]any{"annotations": map[string]any{Annotation + name: value, Annotation + "c." + name: other}}}
		x, err := Of(map[string]Image{"i": {}}, pod, "c", "i")
		if err == nil && x.Exit != nil && (x.Exit.Code < 0 || x.Exit.Code > 255) {
			t.Fatalf("%s=%q: the exit code %d", name, value, x.Exit.Code)
		}
		if err != nil && err.Error() == "" {
			t.Fatalf("%s=%q: nothing is said of what is wrong", name, value)
		}
	})
}
