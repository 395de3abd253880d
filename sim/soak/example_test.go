package soak_test

import (
	"bytes"
	"fmt"

	"github.com/kubesim/kubesim/sim/soak"
)

// A seed determines a run, which is the same each time.
func ExampleRun() {
	r, err := soak.Run(soak.Options{Config: soak.Swarm(1, 50)})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(r.Violations))
	// Output: 0
}

func ExampleSwarm() {
	c := soak.Swarm(1, 50)
	fmt.Println(c.Seed, c.Ops, c.String() == soak.Swarm(1, 50).String(), c.String() == soak.Swarm(2, 50).String())
	// Output: 1 50 true false
}

// Shrink finds a minimal run for a server that loses deletions.
func ExampleShrink() {
	o := soak.Options{Config: soak.Swarm(3, 100), Tamper: func(_ int, event []byte) [][]byte {
		if bytes.Contains(event, []byte(`"type":"DELETED"`)) {
			return nil
		}
		return [][]byte{event}
	}}
	r, err := soak.Shrink(o, soak.Run)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Ops < 10, len(r.Violations) > 0)
	// Output: true true
}
