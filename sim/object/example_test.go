package object_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
)

// Integers stay exact.
func ExampleParse() {
	o, err := object.Parse([]byte(`{"metadata":{"name":"a","generation":9007199254740993}}`))
	fmt.Println(o.Name(), o.Map("metadata")["generation"], err)
	// Output: a 9007199254740993 <nil>
}

// A raw value keeps the order of its keys, unlike an object.
func ExampleParseRaw() {
	o, err := object.ParseRaw([]byte(`{"kind":"ControllerRevision","data":{"b":1, "a":2}}`), &object.Places{Fields: map[string]*object.Places{"data": {Raw: true}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(object.JSON(o)))
	// Output: {"data":{"b":1,"a":2},"kind":"ControllerRevision"}
}

func ExampleAs() {
	fmt.Println(object.As(map[string]any{"metadata": map[string]any{"name": "a"}}).Name(), object.As("a") == nil)
	// Output: a true
}
