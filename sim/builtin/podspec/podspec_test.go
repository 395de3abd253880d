package podspec

import (
	"regexp"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

func TestVolumeDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"name":"v"}`, `{"emptyDir":{},"name":"v"}`},
		{`{"secret":{"secretName":"s"}}`, `{"secret":{"defaultMode":420,"secretName":"s"}}`},
		{`{"hostPath":{"path":"/x"}}`, `{"hostPath":{"path":"/x","type":""}}`},
		{`{"downwardAPI":{"items":[{"fieldRef":{"fieldPath":"a"}}]}}`, `{"downwardAPI":{"defaultMode":420,"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"a"}}]}}`},
		{`{"projected":{"sources":[{"serviceAccountToken":{}}]}}`, `{"projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3600}}]}}`},
		{`{"image":{"reference":"a"}}`, `{"image":{"pullPolicy":"Always","reference":"a"}}`},
		{`{"iscsi":{}}`, `{"iscsi":{"iscsiInterface":"default"}}`},
		{`{"rbd":{"user":"u"}}`, `{"rbd":{"keyring":"/etc/ceph/keyring","pool":"rbd","user":"u"}}`},
		{`{"azureDisk":{}}`, `{"azureDisk":{"cachingMode":"ReadWrite","fsType":"ext4","kind":"Shared","readOnly":false}}`},
		{`{"scaleIO":{}}`, `{"scaleIO":{"fsType":"xfs","storageMode":"ThinProvisioned"}}`},
		{`{"ephemeral":{"volumeClaimTemplate":{}}}`, `{"ephemeral":{"volumeClaimTemplate":{"spec":{"volumeMode":"Filesystem"}}}}`},
	} {
		is := is.New(t)
		v := kindtest.Parse(t, c.in)
		defaultVolume(v)
		is.Equal(string(object.JSON(v)), c.want) // the defaults of this kind of volume
	}
}

func TestQOSClass(t *testing.T) {
	t.Parallel()
	ctx := &resource.Context{}
	for _, c := range []struct{ in, want string }{
		{`{"containers":[{}]}`, "BestEffort"},
		{`{"containers":[{"resources":{"limits":{"cpu":"0"}}}]}`, "BestEffort"},
		{`{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}`, "Burstable"},
		{`{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}}]}`, "Guaranteed"},
		{`{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}},{}]}`, "Burstable"},
		{`{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}},"containers":[{}]}`, "Guaranteed"},
		{`{"resources":{"requests":{"cpu":"1"}},"containers":[{}]}`, "Burstable"},
	} {
		is := is.New(t)
		is.Equal(QosClass(ctx, kindtest.Parse(t, c.in)), c.want) // the class of these resources
	}
}

func TestSumOfContainers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	sum := containerAmounts(kindtest.Parse(t, `{"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}},{"resources":{"requests":{"cpu":"500m"}}}],
		"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"4","memory":"512Mi"}}}]}`), "requests")
	is.Equal(sum["cpu"].Cmp(quantity.MustParse("5")), 0)      // the init container with the sidecar before it
	is.Equal(sum["memory"].Cmp(quantity.MustParse("1Gi")), 0) // the regular container
}

func TestPlainThousandthsNeedNoRounding(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	plain := 0
	for _, number := range []string{"0", "1", "-7", "+12", "999999999", "123456789012345", "0.5", "1.0001", "1e3", "1e-4"} {
		for _, suffix := range []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
			q, err := quantity.Parse(number + suffix)
			if err == nil && inThousandths(number+suffix) {
				is.Equal(q.RoundUp(-3).Cmp(q), 0) // rounding changes nothing
				plain++
			}
		}
	}
	is.True(plain > 50)
	is.True(!inThousandths("1500u"))
}

// TestPatterns compiles the expressions that are otherwise compiled only when a pod has such a field.
func TestPatterns(t *testing.T) {
	is := is.New(t)
	for _, p := range []func() *regexp.Regexp{controlCharacters, netBIOSName, windowsDomain, windowsUserForbidden, dotsAndSpaces, sysctlName,
		imageReference, imageID, iscsiNames["iqn"], iscsiNames["eui"], iscsiNames["naa"]} {
		is.True(p().String() != "")
	}
}
