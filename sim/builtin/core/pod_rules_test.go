package core

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// TestPodRules compares the rules for pods and pod templates with the results of Kubernetes v1.36.3's own validation for
// the same objects. Each line of the file contains one object with the errors and warnings in the server's order, or
// sorted if the server iterates over a map. A line with old is an update; "same" refers to the old object of the
// preceding line. The explanations of formats and podUpdateText are abbreviated with an ellipsis.
func TestPodRules(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/pod_rules.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var old object.Object
	cases := 0
	for lines.Scan() {
		c := kindtest.Parse(t, lines.Text())
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
	is.True(cases > 300) // the file exists
}

// gated is a kind that has only the feature gates of pod specs. With it, fields that are off by default in 1.36 are dropped.
var gated = kindtest.Served(func() []kind.Kind { return []kind.Kind{{Storage: "pods", Gates: podspec.Gates("spec.")}} })

// dropPodFields drops the fields from a pod spec that are off by default in 1.36.
func dropPodFields(ctx *resource.Context, spec, old map[string]any) {
	gated()["pods"].Strategy.PrepareForUpdate(ctx, object.Object{"spec": spec}, object.Object{"spec": old})
}

// checkPodCase returns the errors and the warnings about the object in one line of the file.
func checkPodCase(t *testing.T, c, old object.Object) (errs, warnings []string) {
	ctx := kindtest.New(t, gated, "pods").Ctx
	ctx.Subresource, ctx.Warn = c.String("sub"), func(text string) { warnings = append(warnings, shortText(text)) }
	obj := object.Object(c.Map("obj")).Copy()
	var found field.ErrorList
	switch isTemplate := c.True("template"); {
	case isTemplate:
		template := obj.Map("template")
		podspec.DefaultTemplate(template)
		dropPodFields(ctx, object.Object(template).Map("spec"), nil)
		at := field.CursorOn(field.Root("template"), template)
		podspec.CheckTemplate(ctx, at)
		found = at.Errors()
		podspec.WarnTemplate(ctx, template, field.Root("template"))
	case c.Has("old"):
		before := old.Copy()
		obj.SetDefault("x", "metadata", "name")
		before.SetDefault("x", "metadata", "name")
		for _, pod := range []object.Object{obj, before} {
			defaultPod(pod)
			defaultResources(pod)
		}
		dropPodFields(ctx, obj.Map("spec"), before.Map("spec"))
		if podSpecChanged(obj, before) {
			obj.Set(before.Generation()+1, "metadata", "generation")
		}
		at := field.CursorAt(obj, before)
		if ctx.Subresource == "status" {
			validatePodStatus(ctx, at)
		} else {
			validatePod(ctx, at)
		}
		found = at.Errors()
	default:
		obj.SetDefault("x", "metadata", "name")
		defaultPod(obj)
		defaultResources(obj)
		dropPodFields(ctx, obj.Map("spec"), nil)
		at := field.CursorAt(obj, nil)
		validatePod(ctx, at)
		found = at.Errors()
		podspec.Warn(ctx, field.CursorAt(obj, nil))
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
		obj := object.Object{"spec": map[string]any(kindtest.Parse(t, c.in))}
		defaultPod(obj)
		defaultResources(obj)
		is.Equal(string(object.JSON(obj["spec"])), strings.Replace(c.want, "%", "", 1)) // same defaults as the real server
		again := obj.Copy()
		defaultPod(again)
		defaultResources(again)
		is.True(object.Equal(map[string]any(again), map[string]any(obj))) // defaults are idempotent
	}
}
