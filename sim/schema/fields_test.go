package schema

import (
	"testing"

	"github.com/matryer/is"
)

const (
	coreV1 = "io.k8s.api.core.v1."
	metaV1 = "io.k8s.apimachinery.pkg.apis.meta.v1."
)

// known are fields that other packages rely on, with their properties in the Go types and the published OpenAPI of 1.36.
var known = []struct {
	typeName string
	want     Field
	goType   string
	kind     Kind
	bits     int
}{
	{coreV1 + "PodSpec", Field{
		Name: "containers", Proto: 2, Required: true, ListType: "map", MapKeys: []string{"name"},
		PatchStrategy: []string{"merge"}, PatchMergeKey: "name",
	}, "[]v1.Container", List, 0},
	{coreV1 + "PodSpec", Field{
		Name: "volumes", Proto: 1, OmitEmpty: true, ListType: "map", MapKeys: []string{"name"},
		PatchStrategy: []string{"merge", "retainKeys"}, PatchMergeKey: "name",
	}, "[]v1.Volume", List, 0},
	{coreV1 + "PodSpec", Field{Name: "nodeSelector", Proto: 7, OmitEmpty: true, MapType: "atomic"}, "map[string]string", Map, 0},
	{coreV1 + "ServiceSpec", Field{
		Name: "ports", Proto: 1, OmitEmpty: true, ListType: "map", MapKeys: []string{"port", "protocol"},
		PatchStrategy: []string{"merge"}, PatchMergeKey: "port",
	}, "[]v1.ServicePort", List, 0},
	{coreV1 + "ContainerPort", Field{Name: "protocol", Proto: 4, OmitEmpty: true, Default: "TCP", Enum: []string{"SCTP", "TCP", "UDP"}}, "v1.Protocol", String, 0},
	{coreV1 + "Volume", Field{Name: "hostPath", Proto: 1, Inline: []int{2}, Pointer: true, OmitEmpty: true},
		"v1.HostPathVolumeSource", Struct, 0},
	{coreV1 + "Probe", Field{Name: "exec", Proto: 1, Inline: []int{1}, Pointer: true, OmitEmpty: true}, "v1.ExecAction", Struct, 0},
	{coreV1 + "EphemeralContainer", Field{Name: "name", Proto: 1, Inline: []int{1}, Required: true, Default: ""}, "string", String, 0},
	{coreV1 + "EphemeralContainer", Field{Name: "targetContainerName", Proto: 2, OmitEmpty: true}, "string", String, 0},
	{coreV1 + "PersistentVolumeSpec", Field{Name: "nfs", Proto: 5, Inline: []int{2}, Pointer: true, OmitEmpty: true},
		"v1.NFSVolumeSource", Struct, 0},
	{coreV1 + "EnvFromSource", Field{Name: "configMapRef", Proto: 2, Pointer: true, OmitEmpty: true}, "v1.ConfigMapEnvSource", Struct, 0},
	{coreV1 + "ConfigMapEnvSource", Field{Name: "name", Proto: 1, Inline: []int{1}, OmitEmpty: true, Default: ""}, "string", String, 0},
	{coreV1 + "Pod", Field{Name: "kind", OmitEmpty: true}, "string", String, 0},
	{coreV1 + "Pod", Field{Name: "status", Proto: 3, OmitEmpty: true, Default: map[string]any{}}, "v1.PodStatus", Struct, 0},
	{coreV1 + "Secret", Field{Name: "data", Proto: 2, OmitEmpty: true}, "map[string][]uint8", Map, 0},
	{coreV1 + "ResourceRequirements", Field{Name: "limits", Proto: 1, OmitEmpty: true}, "v1.ResourceList", Map, 0},
	{metaV1 + "ObjectMeta", Field{Name: "creationTimestamp", Proto: 8, OmitEmpty: true, OmitZero: true}, "v1.Time", Time, 0},
	{metaV1 + "ObjectMeta", Field{Name: "deletionTimestamp", Proto: 9, Pointer: true, OmitEmpty: true}, "v1.Time", Time, 0},
	{metaV1 + "ObjectMeta", Field{
		Name: "finalizers", Proto: 14, OmitEmpty: true, ListType: "set", PatchStrategy: []string{"merge"},
	}, "[]string", List, 0},
	{metaV1 + "ObjectMeta", Field{Name: "uid", Proto: 5, OmitEmpty: true}, "types.UID", String, 0},
	{metaV1 + "ManagedFieldsEntry", Field{Name: "fieldsV1", Proto: 7, Pointer: true, OmitEmpty: true}, "v1.FieldsV1", FieldsV1, 0},
	{metaV1 + "WatchEvent", Field{Name: "object", Proto: 2, Required: true}, "runtime.RawExtension", RawExtension, 0},
	{"io.k8s.api.apps.v1.DeploymentSpec", Field{Name: "replicas", Proto: 1, Pointer: true, OmitEmpty: true, Format: "int32"}, "int32", Int, 32},
	{"io.k8s.api.apps.v1.DeploymentSpec", Field{
		Name: "strategy", Proto: 4, OmitEmpty: true, Default: map[string]any{}, PatchStrategy: []string{"retainKeys"},
	}, "v1.DeploymentStrategy", Struct, 0},
	{"io.k8s.api.coordination.v1.LeaseSpec", Field{Name: "renewTime", Proto: 4, Pointer: true, OmitEmpty: true}, "v1.MicroTime", MicroTime, 0},
	{jsonSchemaProps, Field{Name: "maximum", Proto: 9, Pointer: true, OmitEmpty: true, Format: "double"}, "float64", Float, 0},
	{jsonSchemaProps, Field{Name: "$ref", Proto: 3, Pointer: true, OmitEmpty: true}, "string", String, 0},
	{jsonSchemaProps, Field{Name: "default", Proto: 8, Pointer: true, OmitEmpty: true}, "v1.JSON", Any, 0},
	{jsonSchemaProps, Field{Name: "items", Proto: 24, Pointer: true, OmitEmpty: true, PlainRef: true}, "v1.JSONSchemaPropsOrArray", Any, 0},
}

const jsonSchemaProps = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"

func TestKnownFields(t *testing.T) {
	s := load(t)
	for _, tt := range known {
		t.Run(tt.typeName+"."+tt.want.Name, func(t *testing.T) {
			is := is.New(t)
			typ := s.Named(tt.typeName)
			is.True(typ != nil) // the type is known
			f := typ.Field(tt.want.Name)
			is.True(f != nil) // and has the field
			got := *f
			is.Equal(got.Type.GoType, tt.goType)
			is.Equal(got.Type.Kind, tt.kind)
			is.Equal(got.Type.Bits, tt.bits)
			got.Type, got.printRule = nil, Always
			is.Equal(got, tt.want) // the exact properties of the field
		})
	}
}

func TestFieldOrderIsPrintingOrder(t *testing.T) {
	is := is.New(t)
	var names []string
	for _, f := range load(t).Kind(deployment).Fields {
		names = append(names, f.Name)
	}
	is.Equal(names, []string{"kind", "apiVersion", "metadata", "spec", "status"}) // with the fields of TypeMeta in place
}

func TestTypeFacts(t *testing.T) {
	is := is.New(t)
	s := load(t)
	pod := s.Kind(GVK{Version: "v1", Kind: "Pod"})
	is.Equal(pod.Name, coreV1+"Pod")
	is.Equal(pod.GVKs, []GVK{{Version: "v1", Kind: "Pod"}})
	is.True(pod.Published)
	is.Equal(s.Named(metaV1+"LabelSelector").MapType, "atomic") // on the definition, so for every field of the type
	is.Equal(pod.Field("Spec"), nil)                            // names are case-sensitive
	exec := s.Kind(GVK{Version: "v1", Kind: "PodExecOptions"})
	is.True(exec != nil && !exec.Published) // known, but not in the published OpenAPI

	extra := s.Named("io.k8s.api.authentication.v1.UserInfo").Field("extra").Type
	is.Equal(extra.Elem.GoType, "v1.ExtraValue")
	is.True(extra.Elem.Message)                                            // a message in protobuf
	is.True(!s.Named(coreV1 + "PodSpec").Field("containers").Type.Message) // an ordinary list is not
	is.Equal(s.Named(coreV1+"Secret").Field("data").Type.Elem.Kind, Bytes) // base64 values
	props := s.Named(jsonSchemaProps)
	is.True(props.Field("additionalProperties").Type.Elem == props) // a schema or a bool
	is.True(props.Field("not").Type == props)                       // types may contain themselves
	is.Equal(props.Field("default").Type.Elem, nil)                 // any JSON at all
}

func TestWireKindsOfMeta(t *testing.T) {
	s := load(t)
	for _, gvk := range []GVK{
		{Version: "v1", Kind: "Status"}, {Version: "v1", Kind: "DeleteOptions"}, {Group: "apps", Version: "v1", Kind: "DeleteOptions"},
		{Version: "v1", Kind: "APIGroup"}, {Version: "v1", Kind: "APIGroupList"}, {Version: "v1", Kind: "APIResourceList"},
		{Version: "v1", Kind: "APIVersions"}, {Version: "v1", Kind: "WatchEvent"}, {Version: "v1", Kind: "List"},
		{Version: "v1", Kind: "ListOptions"}, {Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"},
		{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadataList"},
		{Group: "meta.k8s.io", Version: "v1", Kind: "Table"}, {Group: "autoscaling", Version: "v1", Kind: "Scale"},
		{Group: "policy", Version: "v1", Kind: "Eviction"}, {Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
		{Version: "v1", Kind: "Binding"}, {Group: "admission.k8s.io", Version: "v1", Kind: "AdmissionReview"},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "ConversionReview"},
		{Group: "apidiscovery.k8s.io", Version: "v2", Kind: "APIGroupDiscoveryList"},
	} {
		t.Run(gvk.GV()+" "+gvk.Kind, func(t *testing.T) {
			is := is.New(t)
			typ := s.Kind(gvk)
			is.True(typ != nil)               // known
			is.Equal(typ.Kind, Struct)        // an object
			is.True(len(typ.Fields) > 0)      // with fields
			is.True(s.Named(typ.Name) == typ) // also by name
		})
	}
}

func TestNewStruct(t *testing.T) {
	is := is.New(t)
	str := &Type{Kind: String, GoType: "string"}
	typ := NewStruct("com.example.v1.Widget", "v1.Widget", []Field{{Name: "a", Type: str}, {Name: "b", Type: str}, {Name: "a"}})
	is.Equal(typ.Kind, Struct)
	is.Equal(typ.Field("b").Name, "b")
	is.True(typ.Field("a").Type == str) // the first of a repeated name
	is.Equal(typ.Field("c"), nil)
	is.Equal(NewStruct("", "", nil).Field("a"), nil) // no fields at all
	is.Equal(new(Type).Field("a"), nil)              // a type without fields has none
}
