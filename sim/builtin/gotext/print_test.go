package gotext

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// parsedText parses the JSON of an object.
func parsedText(t *testing.T, text string) object.Object {
	t.Helper()
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return obj
}

func TestGoJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ      Type
		in, want string
	}{
		{"ContainerPort", `{"hostPort":80}`, `{"Name":"","HostPort":80,"ContainerPort":0,"Protocol":"","HostIP":""}`},
		{"PodResourceClaim", `{"name":"a"}`, `{"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}`},
		{"HTTPGetAction", `{"port":"web"}`, `{"Path":"","Port":"web","Host":"","Scheme":"","HTTPHeaders":null}`},
		{"ConfigMapProjection", `{"name":"a","items":[{"key":"k"}]}`, `{"Name":"a","Items":[{"Key":"k","Path":"","Mode":null}],"Optional":null}`},
		{"ClusterTrustBundleProjection", `{"labelSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}}`,
			`{"Name":null,"SignerName":null,"LabelSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]},"Optional":null,"Path":""}`},
		{"PersistentVolumeClaimTemplate", `{"metadata":{"labels":{"a":"b"}},"spec":{"resources":{"requests":{"storage":"1Gi"}}}}`,
			`{"labels":{"a":"b"},"Spec":{"AccessModes":null,"Selector":null,"Resources":{"Limits":null,"Requests":{"storage":"1Gi"}},"VolumeName":"",` +
				`"StorageClassName":null,"VolumeMode":null,"DataSource":null,"DataSourceRef":null,"VolumeAttributesClassName":null}}`},
	} {
		is := is.New(t)
		is.Equal(string(JSON(c.typ, parsedText(t, c.in))), c.want) // struct order, Go names, and zero values
	}
}

func TestGoJSONMovesHostFields(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	text := string(JSON(PodSpec, parsedText(t, `{"hostNetwork":true,"hostUsers":false,"securityContext":{"runAsUser":5}}`)))
	is.True(strings.Contains(text, `"SecurityContext":{"HostNetwork":true,"HostPID":false,"HostIPC":false,"ShareProcessNamespace":null,"HostUsers":false,`)) // these fields are in the security context
	is.True(strings.Contains(text, `"RunAsUser":5`))                                                                                                         // the security context keeps its own fields
}

func TestGoDiff(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const common = `"name":"dbg","imagePullPolicy":"Always","terminationMessagePath":"/x","terminationMessagePolicy":"File"`
	old, changed := parsedText(t, `{"image":"busybox",`+common+`}`), parsedText(t, `{"image":"other",`+common+`}`)
	is.Equal(Diff(EphemeralContainer, old, changed), "@@ -1,6 +1,6 @@\n {\n  \"Name\": \"dbg\",\n- \"Image\": \"busybox\",\n"+
		"+ \"Image\": \"other\",\n  \"Command\": null,\n  \"Args\": null,\n  \"WorkingDir\": \"\",\n") // recorded: ephemeral-containers change
	is.Equal(Diff(EphemeralContainer, old, old), "") // nothing changed
}

func TestGoDiffOfPodSpecs(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	old := parsedText(t, `{"containers":[{"name":"c","image":"i:2"}]}`)
	changed := parsedText(t, `{"containers":[{"name":"c","image":"i:2","command":["sh"]}]}`)
	is.Equal(Diff(PodSpec, old, changed), "@@ -5,7 +5,9 @@\n   {\n    \"Name\": \"c\",\n    \"Image\": \"i:2\",\n-   \"Command\": null,\n"+
		"+   \"Command\": [\n+    \"sh\"\n+   ],\n    \"Args\": null,\n    \"WorkingDir\": \"\",\n    \"Ports\": null,\n") // recorded: pod-immutable-spec command
}

func TestUnifiedDiff(t *testing.T) {
	t.Parallel()
	lines := func(s string) []string { return strings.Split(s, " ") }
	for _, c := range []struct{ name, a, b, want string }{
		{"same", "a b", "a b", ""},
		{"single line", "a", "b", "@@ -1 +1 @@\n-a\n+b\n"},
		{"insert at the start", "b c d e f", "a b c d e f", "@@ -1,3 +1,4 @@\n+a\n b\n c\n d\n"},
		{"two groups", "a 1 2 3 4 5 6 7 8 b", "x 1 2 3 4 5 6 7 8 y",
			"@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-b\n+y\n"},
		{"one group", "a 1 2 3 4 5 6 b", "x 1 2 3 4 5 6 y", "@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n"},
	} {
		is := is.New(t)
		is.Equal(unifiedDiff(lines(c.a), lines(c.b)), c.want) // as difflib prints it
	}
}
