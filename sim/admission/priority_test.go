package admission

import (
	"testing"

	"github.com/matryer/is"
)

func TestPriority(t *testing.T) {
	t.Parallel()
	const (
		high    = `{"metadata":{"name":"high"},"value":777,"preemptionPolicy":"Never"}`
		common  = `{"metadata":{"name":"common"},"value":5,"globalDefault":true,"preemptionPolicy":"PreemptLowerPriority"}`
		common2 = `{"metadata":{"name":"common2"},"value":4,"globalDefault":true,"preemptionPolicy":"PreemptLowerPriority"}`
	)
	for _, tc := range []struct {
		name, spec string
		classes    []string
		want       string // the spec, or the message of the rejection
	}{
		{"no class", `{}`, nil, `{"preemptionPolicy":"PreemptLowerPriority","priority":0}`},
		{"a class", `{"priorityClassName":"high"}`, []string{high}, `{"preemptionPolicy":"Never","priority":777,"priorityClassName":"high"}`},
		{"the default class", `{}`, []string{high, common}, `{"preemptionPolicy":"PreemptLowerPriority","priority":5,"priorityClassName":"common"}`},
		{"the lowest of two defaults", `{}`, []string{common, common2}, `{"preemptionPolicy":"PreemptLowerPriority","priority":4,"priorityClassName":"common2"}`},
		{"a system class that was deleted", `{"priorityClassName":"system-node-critical"}`, nil,
			`pods "p" is forbidden: no PriorityClass with name system-node-critical was found`},
		{"the right number", `{"priorityClassName":"high","priority":777}`, []string{high},
			`{"preemptionPolicy":"Never","priority":777,"priorityClassName":"high"}`},
		{"a wrong number", `{"priority":5}`, nil, `pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; ` +
			`priority admission controller computed 0 from the given PriorityClass name`},
		{"a wrong policy", `{"priorityClassName":"high","preemptionPolicy":"PreemptLowerPriority"}`, []string{high},
			`pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; ` +
				`priority admission controller computed Never from the given PriorityClass name`},
		{"an unknown class", `{"priorityClassName":"x"}`, nil, `pods "p" is forbidden: no PriorityClass with name x was found`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			pod := parse(t, `{"metadata":{"name":"p"},"spec":`+tc.spec+`}`)
			got := message(setPriority(write(pods, pod, nil, stored{}.put(t, priorityClasses, tc.classes...))))
			if got == "" {
				got = compact(pod.Map("spec"))
			}
			is.Equal(got, tc.want)
		})
	}
}

func TestPriorityOfUpdate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	old := parse(t, `{"metadata":{"name":"p"},"spec":{"priority":7,"preemptionPolicy":"Never"}}`)
	pod := parse(t, `{"metadata":{"name":"p"},"spec":{}}`)
	is.Equal(setPriority(write(pods, pod, old, stored{})), nil)
	is.Equal(compact(pod.Map("spec")), `{"preemptionPolicy":"Never","priority":7}`) // an update that omits both keeps them

	status := write(pods, parse(t, `{"metadata":{"name":"p"},"spec":{}}`), nil, stored{})
	status.Subresource = "status"
	is.Equal(setPriority(status), nil)
	is.Equal(len(status.Object.Map("spec")), 0) // subresources are ignored
}

func TestSecondDefaultPriority(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	objects := stored{}.put(t, priorityClasses, `{"metadata":{"name":"a"},"value":1,"globalDefault":true}`)
	b := parse(t, `{"metadata":{"name":"b"},"value":1,"globalDefault":true}`)
	is.Equal(message(oneDefaultPriority(write(priorityClasses, b, nil, objects))),
		`priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass a is already marked as default. Only one default can exist`)
	a := objects.Get(priorityClasses, "", "a")
	is.Equal(oneDefaultPriority(write(priorityClasses, a, a.Copy(), objects)), nil) // the default itself may be updated
}
