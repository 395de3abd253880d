package patch_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/schema"
)

func ExampleMerge() {
	doc := []byte(`{"metadata":{"labels":{"app":"web","old":"yes"}}}`)
	result, _, status := patch.Merge(doc, []byte(`{"metadata":{"labels":{"old":null,"tier":"front"}}}`), patch.Warn)
	fmt.Println(string(result), status)
	// Output:
	// {"metadata":{"labels":{"app":"web","tier":"front"}}} <nil>
}

func ExampleJSON() {
	doc := []byte(`{"spec":{"replicas":1}}`)
	result, _, status := patch.JSON(doc, []byte(`[{"op":"replace","path":"/spec/replicas","value":3}]`), patch.Warn)
	fmt.Println(string(result), status)
	_, _, status = patch.JSON(doc, []byte(`[{"op":"test","path":"/spec/replicas","value":2}]`), patch.Warn)
	fmt.Println(status.Code, status.Message)
	// Output:
	// {"spec":{"replicas":3}} <nil>
	// 422 the server rejected our request due to an error in our request
}

// Lists of containers are merged by name. A JSON merge patch would replace the whole list.
func ExampleStrategic() {
	set, err := schema.Load(schema.Default)
	if err != nil {
		panic(err)
	}
	pod := object.Object{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "main", "image": "web:1"},
		map[string]any{"name": "proxy", "image": "proxy:1"},
	}}}
	change := []byte(`{"spec":{"containers":[{"name":"main","image":"web:2"}]}}`)
	merged, status := patch.Strategic(object.JSON(pod), change, set.Kind(schema.ParseGVK("v1", "Pod")), patch.Warn, true)
	fmt.Println(string(object.JSON(map[string]any(merged.Object))), status)
	// Output:
	// {"spec":{"containers":[{"image":"web:2","name":"main"},{"image":"proxy:1","name":"proxy"}]}} <nil>
}
