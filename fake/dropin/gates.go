package dropin

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// gatesText lists the feature gates of kube-apiserver.
//
//go:embed gates.txt
var gatesText string

// gates are the feature gates of kube-apiserver by name, with what they are locked to: "" is nothing.
var gates = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(gatesText) {
		if name, locked, _ := strings.Cut(strings.TrimSpace(line), " "); name != "#" {
			all[name] = locked
		}
	}
	return all
})

// checkGate returns the error of kube-apiserver about a feature gate that it does not have, or that cannot be turned on or off any
// more. An emulated version may have other locks: it gets no errors about them.
func checkGate(name string, on, emulated bool) error {
	locked, ok := gates()[name]
	switch {
	case !ok:
		return fmt.Errorf("unrecognized feature gate: %s", name)
	case locked != "" && locked != fmt.Sprint(on) && !emulated:
		return fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %s", name, on, locked)
	}
	return nil
}
