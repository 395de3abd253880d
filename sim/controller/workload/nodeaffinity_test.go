package workload

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func spec(t *testing.T, text string) object.Object {
	t.Helper()
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestNodeAffinity(t *testing.T) {
	required := func(terms string) string {
		return `{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + terms + `]}}}}`
	}
	expression := func(key, operator, values string) string {
		return `{"matchExpressions":[{"key":"` + key + `","operator":"` + operator + `","values":[` + values + `]}]}`
	}
	labels := map[string]string{"disk": "ssd", "rank": "5"}
	for _, test := range []struct {
		name, spec string
		want       bool
	}{
		{"nothing", `{}`, true},
		{"its label", `{"nodeSelector":{"disk":"ssd"}}`, true},
		{"another value", `{"nodeSelector":{"disk":"hdd"}}`, false},
		{"no such label", `{"nodeSelector":{"zone":"a"}}`, false},
		{"no terms", required(``), false},
		{"an empty term", required(`{}`), false},
		{"in", required(expression("disk", "In", `"ssd","hdd"`)), true},
		{"not in", required(expression("disk", "NotIn", `"ssd"`)), false},
		{"not in, absent", required(expression("zone", "NotIn", `"a"`)), true},
		{"exists", required(expression("disk", "Exists", ``)), true},
		{"does not exist", required(expression("disk", "DoesNotExist", ``)), false},
		{"greater", required(expression("rank", "Gt", `"4"`)), true},
		{"not greater", required(expression("rank", "Gt", `"5"`)), false},
		{"less", required(expression("rank", "Lt", `"10"`)), true},
		{"not a number", required(expression("disk", "Lt", `"10"`)), false},
		{"one of two terms", required(expression("disk", "In", `"hdd"`) + "," + expression("rank", "Exists", ``)), true},
		{"its name", required(`{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}`), true},
		{"another name", required(`{"matchFields":[{"key":"metadata.name","operator":"In","values":["m"]}]}`), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			is.New(t).Equal(NodeAffinityOf(spec(t, test.spec)).Match("n", labels), test.want)
		})
	}
}

func TestNodeAffinityNames(t *testing.T) {
	is := is.New(t)
	field := func(values string) string {
		return `{"key":"metadata.name","operator":"In","values":[` + values + `]}`
	}
	names := func(terms string) ([]string, bool) {
		return NodeAffinityOf(spec(t, `{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[`+terms+`]}}}}`)).Names()
	}
	got, only := names(`{"matchFields":[` + field(`"b"`) + `]},{"matchFields":[` + field(`"a"`) + `]}`)
	is.Equal(got, []string{"a", "b"})
	is.True(only)
	got, only = names(`{"matchFields":[` + field(`"a"`) + `,` + field(`"b"`) + `]}`)
	is.Equal(len(got), 0)
	is.True(only) // no node has both names
	_, only = names(`{"matchFields":[` + field(`"a"`) + `]},{"matchExpressions":[{"key":"disk","operator":"Exists"}]}`)
	is.True(!only) // the second term names no nodes
}

func TestTolerates(t *testing.T) {
	x := Taint{Key: "k", Value: "v", Effect: "NoExecute"}
	for _, test := range []struct {
		name string
		t    Toleration
		want bool
	}{
		{"equal", Toleration{Key: "k", Value: "v", Effect: "NoExecute"}, true},
		{"equal, said", Toleration{Key: "k", Operator: "Equal", Value: "v"}, true},
		{"another value", Toleration{Key: "k", Value: "w"}, false},
		{"another effect", Toleration{Key: "k", Value: "v", Effect: "NoSchedule"}, false},
		{"another key", Toleration{Key: "l", Operator: "Exists"}, false},
		{"exists", Toleration{Key: "k", Operator: "Exists"}, true},
		{"all", Toleration{Operator: "Exists"}, true},
		{"an operator that is not known", Toleration{Key: "k", Operator: "Ne", Value: "1"}, false},
		{"less than a word", Toleration{Key: "k", Operator: "Lt", Value: "1"}, false},
	} {
		t.Run(test.name, func(t *testing.T) { is.New(t).Equal(test.t.Tolerates(x), test.want) })
	}
	is := is.New(t)
	number := Taint{Key: "k", Value: "-5", Effect: "NoSchedule"}
	for operator, values := range map[string]string{"Lt": "-4 0 9223372036854775807", "Gt": "-6 -9223372036854775808"} {
		for value := range strings.FieldsSeq(values) {
			is.True(Toleration{Key: "k", Operator: operator, Value: value}.Tolerates(number))
			is.True(!Toleration{Key: "k", Operator: map[string]string{"Lt": "Gt", "Gt": "Lt"}[operator], Value: value}.Tolerates(number))
		}
		for value := range strings.FieldsSeq("-5 05 x +9 -9223372036854775809 9223372036854775808") {
			is.True(!Toleration{Key: "k", Operator: operator, Value: value}.Tolerates(number))
		}
	}
	taints := []Taint{{Key: "a", Effect: "PreferNoSchedule"}, {Key: "k", Effect: "NoSchedule"}}
	is.True(Untolerated(taints, nil, "NoSchedule", "NoExecute"))
	is.True(!Untolerated(taints[:1], nil, "NoSchedule", "NoExecute"))
	is.True(!Untolerated(taints, []Toleration{{Key: "k", Operator: "Exists"}}, "NoSchedule"))
}
