package selector_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/selector"
)

func ExampleParseLabels() {
	s, err := selector.ParseLabels("app in (web,api),!old")
	fmt.Println(s, err)
	fmt.Println(s.Matches(map[string]string{"app": "web"}), s.Matches(map[string]string{"app": "db"}))
	// Output:
	// app in (api,web),!old <nil>
	// true false
}

func ExampleParseFields() {
	f, err := selector.ParseFields("status.phase!=Failed,spec.nodeName=n1")
	fmt.Println(f, err)
	fmt.Println(f.RequiresExact("spec.nodeName"))
	// Output:
	// spec.nodeName=n1,status.phase!=Failed <nil>
	// n1 true
}
