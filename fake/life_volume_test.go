package fake_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

const (
	inClaims  = "/api/v1/namespaces/default/persistentvolumeclaims"
	inVolumes = "/api/v1/persistentvolumes"
)

func volumesLive(t *testing.T, f func(is *is.I, c client)) {
	t.Helper()
	lively(t, []string{"persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller",
		"persistentvolume-protection-controller", "persistentvolume-expander-controller", "ephemeral-volume-controller", "volume-provisioner",
		"kube-scheduler"}, f)
}

// volume creates a volume. spec is JSON text that precedes the source of the volume.
func (c client) volume(name, size, spec string) {
	c.t.Helper()
	c.must("POST", inVolumes, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"capacity":{"storage":%q},"accessModes":["ReadWriteOnce"],%s
		"csi":{"driver":"d","volumeHandle":%q}}}`, name, size, spec, name))
}

// claim creates a claim of a storage class.
func (c client) claim(name, size, class, spec string) {
	c.t.Helper()
	c.must("POST", inClaims, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":%q}},
		%s"storageClassName":%q}}`, name, size, spec, class))
}

func (c client) class(name, provisioner, mode, more string) {
	c.t.Helper()
	c.must("POST", "/apis/storage.k8s.io/v1/storageclasses", fmt.Sprintf(`{"metadata":{"name":%q},"provisioner":%q,"volumeBindingMode":%q%s}`,
		name, provisioner, mode, more))
}

// volumeOf returns the volume of a bound claim, or the phase of a claim that is not bound.
func (c client) volumeOf(name string) string {
	c.t.Helper()
	claim := c.must("GET", inClaims+"/"+name, "")
	if phase := claim.String("status", "phase"); phase != "Bound" {
		return phase
	}
	return claim.String("spec", "volumeName")
}

func (c client) phase(volume string) string {
	c.t.Helper()
	return c.must("GET", inVolumes+"/"+volume, "").String("status", "phase")
}

// with returns JSON text for a pod's spec: a volume that uses a claim.
func with(claim string) string {
	return `"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"` + claim + `"}}],`
}

func TestBinds(t *testing.T) {
	for _, test := range []struct {
		name    string
		volumes [][3]string // name, size, spec
		claim   [3]string   // size, class, spec
		want    string
		said    string // the last event about the claim
	}{
		{"the smallest", [][3]string{{"large", "5Gi", ""}, {"medium", "2Gi", ""}, {"small", "1Gi", ""}}, [3]string{"2Gi"}, "medium", ""},
		{"none is large enough", [][3]string{{"small", "1Gi", ""}}, [3]string{"2Gi"}, "Pending",
			"FailedBinding: no persistent volumes available for this claim and no storage class is set"},
		{"of the class", [][3]string{{"a", "1Gi", ""}, {"b", "1Gi", `"storageClassName":"x",`}}, [3]string{"1Gi", "x"}, "b", ""},
		{"the one it names", [][3]string{{"a", "1Gi", ""}, {"b", "5Gi", ""}}, [3]string{"1Gi", "", `"volumeName":"b",`}, "b", ""},
		{"it names a small one", [][3]string{{"a", "1Gi", ""}}, [3]string{"2Gi", "", `"volumeName":"a",`}, "Pending",
			`VolumeMismatch: Cannot bind to requested volume "a": requested PV is too small`},
		{"meant for it", [][3]string{{"a", "1Gi", ""}, {"b", "5Gi", `"claimRef":{"namespace":"default","name":"c"},`}}, [3]string{"1Gi"}, "b", ""},
		{"meant for another", [][3]string{{"a", "1Gi", `"claimRef":{"namespace":"default","name":"d"},`}}, [3]string{"1Gi"}, "Pending",
			"FailedBinding: no persistent volumes available for this claim and no storage class is set"},
		{"no such class", nil, [3]string{"1Gi", "y"}, "Pending", `ProvisioningFailed: storageclass.storage.k8s.io "y" not found`},
	} {
		t.Run(test.name, func(t *testing.T) {
			volumesLive(t, func(is *is.I, c client) {
				for _, v := range test.volumes {
					c.volume(v[0], v[1], v[2])
				}
				c.claim("c", test.claim[0], test.claim[1], test.claim[2])
				is.Equal(c.volumeOf("c"), test.want)
				is.Equal(strings.Join(c.said("c"), "; "), test.said)
				if test.said == "" {
					is.Equal(c.phase(test.want), "Bound")
				}
			})
		})
	}
}

// TestReclaims checks that a pending claim is bound to the first matching volume. The reclaim policy decides what
// happens to the volume when its claim is deleted.
func TestReclaims(t *testing.T) {
	volumesLive(t, func(is *is.I, c client) {
		c.claim("c", "1Gi", "", "")
		c.volume("kept", "1Gi", `"persistentVolumeReclaimPolicy":"Retain",`)
		is.Equal(c.volumeOf("c"), "kept")
		c.must("DELETE", inClaims+"/c", "")
		is.Equal(c.phase("kept"), "Released")
		c.mergePatch(inVolumes+"/kept", `{"spec":{"claimRef":null}}`)
		is.Equal(c.phase("kept"), "Available")
		c.claim("d", "1Gi", "", "")
		c.must("DELETE", inVolumes+"/kept", "")
		is.Equal(c.phase("kept"), "Bound") // the claim is protected
		c.mergePatch(inVolumes+"/kept", `{"metadata":{"finalizers":null}}`)
		is.Equal(c.volumeOf("d"), "Lost")
		is.Equal(c.said("d"), []string{"ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!"})
	})
}

// TestClaimInUse checks that a deleted claim is kept as long as a pod on a node uses it.
func TestClaimInUse(t *testing.T) {
	volumesLive(t, func(is *is.I, c client) {
		c.node("n", "4", "")
		c.volume("v", "1Gi", "")
		c.claim("c", "1Gi", "", "")
		c.pod("p", "1", with("c"))
		c.must("DELETE", inClaims+"/c", "")
		is.Equal(c.volumeOf("c"), "v")
		c.must("DELETE", inPods+"/p", `{"gracePeriodSeconds":0}`)
		code, _ := c.do("GET", inClaims+"/c", "")
		is.Equal(code, 404)
	})
}

// TestFirstConsumer checks that a claim that waits for its first consumer gets a volume on the pod's node.
// TestUnused checks that a bound claim of a cluster of 1.37 says since when no pod uses it.
func TestUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Replicas: []fake.ReplicaOptions{{Version: "1.37"}},
			Controllers: []string{"persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller"}})}
		unused := func() string { return says(c.must("GET", inClaims+"/a", ""), "Unused") }
		c.claim("a", "1Gi", "", "")
		pass(time.Minute)
		is.Equal(unused(), " : ") // it is not bound
		c.volume("v", "1Gi", "")
		pass(time.Minute)
		is.Equal(unused(), "True NoPodsUsingPVC: No pods are currently referencing this PVC")
		since := c.must("GET", inClaims+"/a", "").Condition("Unused").String("lastTransitionTime")
		c.pod("p", "100m", with("a"))
		pass(time.Minute)
		is.Equal(unused(), "False PodUsingPVC: A pod is currently referencing this PVC") // although it is not scheduled
		c.mergePatch(podsPath+"/p/status", `{"status":{"phase":"Succeeded"}}`)
		pass(time.Second)
		is.Equal(unused(), "True NoPodsUsingPVC: No pods are currently referencing this PVC")
		is.True(c.must("GET", inClaims+"/a", "").Condition("Unused").String("lastTransitionTime") > since)
	})
}

func TestFirstConsumer(t *testing.T) {
	volumesLive(t, func(is *is.I, c client) {
		c.node("a", "4", "")
		c.node("b", "4", "")
		c.class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", "")
		c.claim("c", "1Gi", "local", "")
		c.pod("p", "1", with("c"))
		is.True(strings.HasPrefix(c.why("p"), "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind."))
		c.volume("v", "1Gi", `"storageClassName":"local","nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
			{"key":"kubernetes.io/hostname","operator":"In","values":["b"]}]}]}},`)
		is.Equal([]string{c.on("p"), c.volumeOf("c")}, []string{"b", "v"})
		is.Equal(c.said("c")[0], "WaitForFirstConsumer: waiting for first consumer to be created before binding")
	})
}

// TestProvisions checks that the simulated provisioner creates, expands and deletes volumes.
func TestProvisions(t *testing.T) {
	volumesLive(t, func(is *is.I, c client) {
		c.node("n", "4", "")
		c.class("standard", "csi.kubesim.io", "WaitForFirstConsumer", `,"allowVolumeExpansion":true`)
		c.must("POST", inPods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","ephemeral":
			{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"standard","resources":{"requests":{"storage":"1Gi"}}}}}}]}}`)
		is.Equal(c.on("p"), "n")
		claim := c.must("GET", inClaims+"/p-v", "")
		volume := "pvc-" + claim.UID()
		is.Equal(c.volumeOf("p-v"), volume)
		is.Equal(claim.Annotations()["volume.kubernetes.io/selected-node"], "n")
		is.True(object.Equal(claim.List("metadata", "ownerReferences")[0].(map[string]any)["kind"], "Pod"))
		c.mergePatch(inClaims+"/p-v", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
		is.Equal(c.must("GET", inClaims+"/p-v", "").String("status", "capacity", "storage"), "2Gi")
		c.must("DELETE", inPods+"/p", `{"gracePeriodSeconds":0}`)
		c.must("DELETE", inClaims+"/p-v", "")
		code, _ := c.do("GET", inVolumes+"/"+volume, "")
		is.Equal(code, 404)
	})
}
