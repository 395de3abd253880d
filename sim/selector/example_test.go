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

func ExampleFromSet() {
	fmt.Println(selector.FromSet(map[string]string{"tier": "web", "app": "shop"}))
	// Output: app=shop,tier=web
}

func ExampleFromLabelSelector() {
	s, err := selector.FromLabelSelector(map[string]any{
		"matchLabels":      map[string]any{"app": "shop"},
		"matchExpressions": []any{map[string]any{"key": "tier", "operator": "In", "values": []any{"web", "db"}}},
	})
	fmt.Println(s, err)
	// Output: app=shop,tier in (db,web) <nil>
}

func ExampleNothing() {
	fmt.Println(selector.Nothing().Matches(map[string]string{"app": "shop"}))
	// Output: false
}
