package openapi

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// fields decodes a protobuf message. It returns the length-delimited fields by number, in order.
func fields(tb testing.TB, b []byte) map[int][]string {
	tb.Helper()
	out := map[int][]string{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		value, k := binary.Uvarint(b[n:])
		if n <= 0 || k <= 0 {
			tb.Fatal("not a message")
		}
		b = b[n+k:]
		switch tag & 7 {
		case delimited:
			out[int(tag>>3)] = append(out[int(tag>>3)], string(b[:value]))
			b = b[value:]
		case varint:
			out[int(tag>>3)] = append(out[int(tag>>3)], string(rune('0'+value)))
		default:
			tb.Fatalf("wire type %d", tag&7)
		}
	}
	return out
}

// readNamed decodes repeated (name, value) messages.
func readNamed(tb testing.TB, list []string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	for _, b := range list {
		f := fields(tb, []byte(b))
		out[f[1][0]] = f[2][0]
	}
	return out
}

func TestProtoV2(t *testing.T) {
	is := is.New(t)
	s, parts := source(t)
	model := s.V2(parts)
	doc := fields(t, ProtoV2(model))
	is.Equal(doc[1], []string{"2.0"})

	definitions := readNamed(t, fields(t, []byte(doc[9][0]))[1])
	is.Equal(object.SortedKeys(definitions), object.SortedKeys(model["definitions"].(map[string]any))) // all, by name
	paths := readNamed(t, fields(t, []byte(doc[8][0]))[2])
	is.Equal(object.SortedKeys(paths), object.SortedKeys(model["paths"].(map[string]any)))

	deployment := fields(t, []byte(definitions["io.k8s.api.apps.v1.Deployment"]))
	is.Equal(fields(t, []byte(deployment[22][0]))[1], []string{"object"}) // type
	props := readNamed(t, fields(t, []byte(deployment[25][0]))[1])
	is.Equal(fields(t, []byte(props["spec"]))[1], []string{"#/definitions/io.k8s.api.apps.v1.DeploymentSpec"}) // $ref
	kinds := readNamed(t, deployment[31])["x-kubernetes-group-version-kind"]
	is.Equal(fields(t, []byte(kinds))[2], []string{`[{"group":"apps","kind":"Deployment","version":"v1"}]`}) // text of YAML

	item := fields(t, []byte(paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]))
	patch := fields(t, []byte(item[8][0]))
	is.Equal(patch[5], []string{"patchAppsV1NamespacedDeployment"}) // operationId
	is.Equal(patch[7], patchTypes)                                  // consumes: kubectl looks for these
	var names []string
	shared := readNamed(t, fields(t, []byte(doc[10][0]))[1])
	for _, p := range patch[8] {
		inline := fields(t, []byte(p))
		if ref := inline[2]; ref != nil {
			inline[1] = []string{shared[strings.TrimPrefix(fields(t, []byte(ref[0]))[1][0], refParameters)]}
		}
		param := fields(t, []byte(inline[1][0]))
		if query := param[2]; query != nil {
			names = append(names, fields(t, []byte(fields(t, []byte(query[0]))[3][0]))[4][0])
		}
	}
	is.Equal(names, []string{"dryRun", "fieldManager", "fieldValidation", "force"}) // and for fieldValidation
}
