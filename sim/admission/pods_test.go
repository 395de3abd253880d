package admission

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func compact(v any) string { return string(object.JSON(v)) }

func TestDefaultTolerations(t *testing.T) {
	t.Parallel()
	const (
		ready = `{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300}`
		reach = `{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300}`
	)
	for _, tc := range []struct{ name, own, want string }{
		{"none", ``, ready + `,` + reach},
		{"its own", `{"key":"node.kubernetes.io/not-ready","tolerationSeconds":5}`,
			`{"key":"node.kubernetes.io/not-ready","tolerationSeconds":5},` + reach},
		{"everything", `{"operator":"Exists"}`, `{"operator":"Exists"}`},
		{"another effect", `{"effect":"NoSchedule","key":"node.kubernetes.io/unreachable"}`,
			`{"effect":"NoSchedule","key":"node.kubernetes.io/unreachable"},` + ready + `,` + reach},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			pod := parse(t, `{"metadata":{"name":"p"},"spec":{"tolerations":[`+tc.own+`]}}`)
			is.Equal(tolerateUnusableNodes(write(pods, pod, nil, nil)), nil)
			is.Equal(compact(pod.List("spec", "tolerations")), `[`+tc.want+`]`)
		})
	}
}

func TestNodesAreTainted(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	node := parse(t, `{"metadata":{"name":"n"}}`)
	for range 2 { // a node that already has the taint is unchanged
		is.Equal(taintNewNode(write(nodes, node, nil, nil)), nil)
		is.Equal(compact(node.List("spec", "taints")), `[{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}]`)
	}
}

func TestRuntimeClass(t *testing.T) {
	t.Parallel()
	const class = `{"metadata":{"name":"gvisor"},"handler":"h","overhead":{"podFixed":{"cpu":"1"}},
		"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"k","operator":"Exists"}]}}`
	const mismatch = `pods "p" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`
	for _, tc := range []struct{ name, spec, want string }{
		{"no class", `{}`, `{}`},
		{"a class", `{"runtimeClassName":"gvisor"}`,
			`{"nodeSelector":{"a":"b"},"overhead":{"cpu":"1"},"runtimeClassName":"gvisor","tolerations":[{"key":"k","operator":"Exists"}]}`},
		{"the same overhead", `{"overhead":{"cpu":"1000m"},"runtimeClassName":"gvisor","tolerations":[{"key":"k","effect":"NoExecute","operator":"Exists"}]}`,
			`{"nodeSelector":{"a":"b"},"overhead":{"cpu":"1"},"runtimeClassName":"gvisor","tolerations":[{"key":"k","operator":"Exists"}]}`},
		{"another overhead", `{"overhead":{"cpu":"2"},"runtimeClassName":"gvisor"}`, mismatch},
		{"overhead without a class", `{"overhead":{"cpu":"2"}}`,
			`pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`},
		{"unknown", `{"runtimeClassName":"x"}`, `pods "p" is forbidden: pod rejected: RuntimeClass "x" not found`},
		{"another selector", `{"nodeSelector":{"a":"c"},"runtimeClassName":"gvisor"}`,
			`pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			pod := parse(t, `{"metadata":{"name":"p"},"spec":`+tc.spec+`}`)
			a := write(pods, pod, nil, stored{}.put(t, runtimeClasses, class))
			got := message(applyRuntimeClass(a))
			if got == "" {
				got = message(checkOverhead(a))
			}
			if got == "" {
				got = compact(pod.Map("spec"))
			}
			is.Equal(got, tc.want)
		})
	}
}

func TestMergeTolerations(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, first, second, want string }{
		{"equal ones are one", `[{"key":"a","operator":"Exists"}]`, `[{"key":"a","operator":"Exists"}]`, `[{"key":"a","operator":"Exists"}]`},
		{"a wider one wins", `[{"key":"a","operator":"Equal","value":"x"}]`, `[{"operator":"Exists"}]`, `[{"operator":"Exists"}]`},
		{"a narrower one is dropped", `[{"key":"a","operator":"Exists"}]`, `[{"effect":"NoSchedule","key":"a","operator":"Exists"}]`, `[{"key":"a","operator":"Exists"}]`},
		{"a longer time is wider", `[{"effect":"NoExecute","key":"a","operator":"Exists","tolerationSeconds":5}]`,
			`[{"effect":"NoExecute","key":"a","operator":"Exists","tolerationSeconds":9}]`,
			`[{"effect":"NoExecute","key":"a","operator":"Exists","tolerationSeconds":9}]`},
		{"others stay", `[{"key":"a","operator":"Equal","value":"x"}]`, `[{"key":"a","operator":"Equal","value":"y"}]`,
			`[{"key":"a","operator":"Equal","value":"x"},{"key":"a","operator":"Equal","value":"y"}]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			both := parse(t, `{"first":`+tc.first+`,"second":`+tc.second+`}`)
			is.Equal(compact(mergeTolerations(both.List("first"), both.List("second"))), tc.want)
		})
	}
}
