package builtin

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// TestPodRules compares the rules for pods and pod templates with what the validation of Kubernetes v1.36.3 itself said
// about the same objects. Each line of the file is one object with the errors and warnings in the order of the server;
// where that goes through a map, in sorted order. A line with old is an update, "same" stands for the old one of the
// line before. The explanations of formats and of podUpdateText are cut down to an ellipsis.
func TestPodRules(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/podspec_rules.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var old object.Object
	cases := 0
	for lines.Scan() {
		c := Parse(t, lines.Text())
		if m := c.Map("old"); m != nil {
			old = m
		}
		cases++
		name := c.String("sub") + " " + c.String("name")
		got, warnings := checkPodCase(t, c, old)
		if want := c.Strings("errors"); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
		if want := c.Strings("warnings"); strings.Join(warnings, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: warnings\n got %q\nwant %q", name, warnings, want)
		}
	}
	is := is.New(t)
	is.True(cases > 300) // the file is there
}

// gated is a kind that has nothing but the gates of pod specs: 1.36 drops what it has off by default.
var gated = Served(func() []kind { return []kind{{storage: "pods", gates: podSpecGates("spec.")}} })

// dropPodFields drops from a pod spec what 1.36 has off by default.
func dropPodFields(ctx *resource.Context, spec, old map[string]any) {
	gated()["pods"].strategy.PrepareForUpdate(ctx, object.Object{"spec": spec}, object.Object{"spec": old})
}

// checkPodCase returns the errors and warnings about the object of one line.
func checkPodCase(t *testing.T, c, old object.Object) (errs, warnings []string) {
	ctx := New(t, gated, "pods").Ctx
	ctx.Subresource, ctx.Warn = c.String("sub"), func(text string) { warnings = append(warnings, shortText(text)) }
	obj := object.Object(c.Map("obj")).Copy()
	var found field.ErrorList
	switch isTemplate := c.True("template"); {
	case isTemplate:
		template := obj.Map("template")
		defaultPodTemplate(template)
		dropPodFields(ctx, object.Object(template).Map("spec"), nil)
		found = validatePodTemplate(ctx, template, field.Root("template"))
		warnAll(ctx, podTemplateWarnings(ctx, template, field.Root("template")))
	case c.Has("old"):
		before := old.Copy()
		obj.SetDefault("x", "metadata", "name")
		before.SetDefault("x", "metadata", "name")
		defaultPod(obj)
		defaultPod(before)
		dropPodFields(ctx, obj.Map("spec"), before.Map("spec"))
		found = validatePod(ctx, obj, before)
	default:
		obj.SetDefault("x", "metadata", "name")
		defaultPod(obj)
		dropPodFields(ctx, obj.Map("spec"), nil)
		found = validateNewPod(ctx, obj)
		warnAll(ctx, podWarnings(ctx, obj.At("spec"), obj.Annotations(), field.Path{}))
	}
	for _, e := range found {
		errs = append(errs, shortText(e.Error()))
	}
	return errs, warnings
}

var formatText = regexp.MustCompile(` \(e\.g\. .*?regex used for validation is '.*?'\)`)

func shortText(text string) string {
	return strings.ReplaceAll(formatText.ReplaceAllString(text, "…"), podUpdateText, "pod updates…\n")
}

func TestPodDefaults(t *testing.T) {
	t.Parallel()
	const rest = `"dnsPolicy":"ClusterFirst","enableServiceLinks":true,%"restartPolicy":"Always","schedulerName":"default-scheduler",` +
		`"securityContext":{},"terminationGracePeriodSeconds":30`
	container := func(name, image, policy string) string {
		return `{"image":"` + image + `","imagePullPolicy":"` + policy + `","name":"` + name +
			`","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"`
	}
	for _, c := range []struct{ name, in, want string }{
		{"tags", `{"containers":[{"name":"a","image":"r:5000/a"},{"name":"b","image":"r:5000/a:1"},{"name":"c","image":"a@sha256:01234567890123456789012345678901"},{"name":"d","image":"A"}]}`,
			`{"containers":[` + container("a", "r:5000/a", "Always") + `},` + container("b", "r:5000/a:1", "IfNotPresent") + `},` +
				container("c", "a@sha256:01234567890123456789012345678901", "IfNotPresent") + `},` + container("d", "A", "IfNotPresent") + `}],` + rest + `}`},
		{"limits become requests", `{"containers":[{"name":"a","image":"i","resources":{"limits":{"cpu":"1"},"requests":{"memory":"1Gi"}}}]}`,
			`{"containers":[` + strings.Replace(container("a", "i", "Always"), `"terminationMessagePath"`,
				`"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1","memory":"1Gi"}},"terminationMessagePath"`, 1) + `}],` + rest + `}`},
		{"host network", `{"hostNetwork":true,"containers":[{"name":"a","image":"i","ports":[{"containerPort":80}]}]}`,
			`{"containers":[` + strings.Replace(container("a", "i", "Always"), `"terminationMessagePath"`,
				`"ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}],"terminationMessagePath"`, 1) + `}],` +
				strings.Replace(rest, "%", `"hostNetwork":true,`, 1) + `}`},
		{"negative grace period", `{"terminationGracePeriodSeconds":-5}`, `{` + strings.Replace(rest, "30", "1", 1) + `}`},
		{"quantities of a pod", `{"resources":{"limits":{"cpu":"4"}},"containers":[{"name":"a","image":"i:1","resources":{"requests":{"cpu":"300m"}}}]}`,
			`{"containers":[` + strings.Replace(container("a", "i:1", "IfNotPresent"), `"terminationMessagePath"`,
				`"resources":{"requests":{"cpu":"300m"}},"terminationMessagePath"`, 1) + `}],` +
				strings.Replace(rest, "%", `"resources":{"limits":{"cpu":"4"},"requests":{"cpu":"300m"}},`, 1) + `}`},
	} {
		is := is.New(t)
		obj := object.Object{"spec": map[string]any(Parse(t, c.in))}
		defaultPod(obj)
		is.Equal(string(object.JSON(obj["spec"])), strings.Replace(c.want, "%", "", 1)) // as the real server fills it in
		again := obj.Copy()
		defaultPod(again)
		is.True(object.Equal(map[string]any(again), map[string]any(obj))) // defaults are idempotent
	}
}

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
		v := Parse(t, c.in)
		defaultVolume(v)
		is.Equal(string(object.JSON(v)), c.want) // the defaults of this kind of volume
	}
}

func TestQOSClass(t *testing.T) {
	t.Parallel()
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
		is.Equal(qosClass(Parse(t, c.in)), c.want) // the class of these resources
	}
}

func TestSumOfContainers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	sum := sumOfContainers(Parse(t, `{"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}},{"resources":{"requests":{"cpu":"500m"}}}],
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
