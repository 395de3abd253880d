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

// gates are the feature gates of kube-apiserver by name. The value is the state that a gate is locked to, or "" if it is not locked.
var gates = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(gatesText) {
		if name, locked, _ := strings.Cut(strings.TrimSpace(line), " "); name != "#" {
			all[name] = locked
		}
	}
	return all
})

// checkGate returns kube-apiserver's error for a feature gate that it does not have, or that is locked to the other state. With an emulated
// version it returns no error for a locked gate, because that version may have other locks.
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
