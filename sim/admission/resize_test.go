package admission

import (
	"testing"

	"github.com/matryer/is"
)

func TestPodRequest(t *testing.T) {
	t.Parallel()
	container := func(cpu, more string) string {
		return `{"resources":{"requests":{"cpu":"` + cpu + `"}}` + more + `}`
	}
	for _, tc := range []struct{ name, spec, want string }{
		{"nothing", `{}`, "0"},
		{"containers together", `{"containers":[` + container("1", ``) + `,` + container("500m", ``) + `,{}]}`, "1500m"},
		{"the largest init container", `{"containers":[` + container("1", ``) + `],"initContainers":[` + container("2", ``) + `,` + container("3", ``) + `]}`, "3"},
		{"sidecars count twice", `{"containers":[` + container("1", ``) + `],"initContainers":[` + container("2", `,"restartPolicy":"Always"`) + `,` + container("3", ``) + `]}`, "5"},
		{"a sidecar after the others", `{"containers":[` + container("1", ``) + `],"initContainers":[` + container("2", ``) + `,` + container("2", `,"restartPolicy":"Always"`) + `]}`, "3"},
		{"of the pod, and its overhead", `{"containers":[` + container("1", ``) + `],"resources":{"requests":{"cpu":"4"}},"overhead":{"cpu":"100m"}}`, "4100m"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			requests := requestsOf(parse(t, `{"spec":`+tc.spec+`}`))
			is.Equal(requests["cpu"].String(), tc.want)
		})
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	const no = `pods "p" is forbidden: `
	pod := func(generation, node string) string {
		return `{"metadata":{"name":"p","generation":` + generation + `},"spec":{"nodeName":"` + node +
			`","containers":[{"resources":{"requests":{"cpu":"2","memory":"2Ki"}}}]}}`
	}
	for _, tc := range []struct{ name, pod, want, cause string }{
		{"no node", pod("2", ""), ``, ``},
		{"no change", pod("1", "gone"), ``, ``},
		{"a node that is gone", pod("2", "gone"), no + `node "gone" not found`, ``},
		{"another system", pod("2", "windows"), no + `pod resize is only supported on linux nodes, node "windows" is "windows"`, "UnsupportedPlatform"},
		{"too much", pod("2", "small"), no + `node didn't have enough allocatable resources: cpu, requested: 2000, allocatable: 500; memory, requested: 2048, allocatable: 1024`,
			"NodeCapacity"},
		{"enough", pod("2", "large"), ``, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			objects := stored{}.put(t, nodes, `{"metadata":{"name":"windows","labels":{"kubernetes.io/os":"windows"}}}`,
				`{"metadata":{"name":"small"},"status":{"allocatable":{"cpu":"500m","memory":"1Ki"}}}`,
				`{"metadata":{"name":"large","labels":{"kubernetes.io/os":"linux"}},"status":{"allocatable":{"cpu":"2","memory":"2Ki"}}}`)
			a := write(pods, parse(t, tc.pod), parse(t, pod("1", "")), objects)
			a.Subresource = "resize"
			s := checkResize(a)
			is.Equal(message(s), tc.want)
			if tc.cause != "" {
				is.Equal(string(s.Details.Causes[0].Reason), tc.cause)
			}
		})
	}
}
