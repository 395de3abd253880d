// Package apiserverinternal defines the StorageVersion of internal.apiserver.k8s.io, which no server serves by default.
package apiserverinternal

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

const docStatus = "io.k8s.api.apiserverinternal.v1.StorageVersionStatus"

// Kinds returns the kinds of internal.apiserver.k8s.io.
func Kinds() []kind.Kind {
	if !schema.HasAll {
		return nil
	}
	name := table.Name()
	return []kind.Kind{{
		Storage: "storageversions.internal.apiserver.k8s.io",
		Strategy: resource.Strategy{
			HasStatus: true, StatusKeeps: resource.KeptForStatus, DenyUnconditionalUpdate: true,
			NameRule: func(name string, _ bool) []string { return storageVersionName(name) },
			Checks:   resource.Checks{Update: []resource.Check{resource.CheckKind}},
		},
		Validate:       func(*resource.Context, field.Cursor) {},
		ValidateStatus: func(_ *resource.Context, at field.Cursor) { validateStatus(at.Child("status")) },
		Columns: []table.Column{name,
			table.Doc("CommonEncodingVersion", docStatus, "commonEncodingVersion").AtOr(table.Unset, "status", "commonEncodingVersion"),
			table.Doc("StorageVersions", docStatus, "storageVersions").Cell(cellVersions), table.Age()},
	}}
}

// storageVersionName checks a name of the form GROUP.RESOURCE.
func storageVersionName(name string) (texts []string) {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return []string{"name must be in the form of <group>.<resource>"}
	}
	for _, text := range field.DNS1123Subdomain(name[:i]) {
		texts = append(texts, "the group segment "+text)
	}
	for _, text := range field.DNS1035Label(name[i+1:]) {
		texts = append(texts, "the resource segment "+text)
	}
	return texts
}

// validateStatus validates the versions of all servers, their common version, and the conditions.
func validateStatus(at field.Cursor) {
	seen := field.Seen{}
	var encodings []string
	for server := range at.Each("storageVersions") {
		encodings = append(encodings, server.String("encodingVersion"))
		server.Child("apiServerID").OrEmpty().Unique(seen)
		validateServer(server)
	}
	validateCommon(at.Child("commonEncodingVersion"), encodings)
	first := map[string]int{}
	i := 0
	for c := range at.Each("conditions") {
		in := c.ReportAt(at.Index(i)) // the real server's path lacks "conditions"
		name := in.Child("type")
		if before, ok := first[name.String()]; ok {
			name.Invalid(name.String(), fmt.Sprintf("the type of the condition is not unique, it also appears in conditions[%d]", before))
		}
		first[name.String()] = i
		name.OrEmpty().Check(field.QualifiedName)
		in.Child("status").OrEmpty().Check(field.QualifiedName)
		in.Child("reason").Required()
		in.Child("message").Required()
		i++
	}
}

func validateServer(at field.Cursor) {
	encoding, decodable := at.Child("encodingVersion").OrEmpty(), at.Strings("decodableVersions")
	at.Child("apiServerID").OrEmpty().Check(field.DNS1123Subdomain)
	encoding.Check(joinedAPIVersion)
	includes := false
	for version := range at.Each("decodableVersions") {
		version.Check(joinedAPIVersion)
		includes = includes || version.String() == encoding.String()
	}
	list := at.Child("decodableVersions")
	list.InvalidIf(!includes, "decodableVersions must include encodingVersion "+encoding.String())
	for version := range at.Each("servedVersions") {
		version.Check(joinedAPIVersion)
		found := false
		for _, d := range decodable {
			found = found || d == version.String()
		}
		version.InvalidIf(!found, fmt.Sprintf("individual served version : %s must be included in decodableVersions : %s", version.String(), decodable))
	}
}

// validateCommon checks the version in which all servers store objects.
func validateCommon(at field.Cursor, encodings []string) {
	common := len(encodings) > 0
	for _, e := range encodings {
		common = common && e == encodings[0]
	}
	switch {
	case !common && at.Has():
		at.Invalid(at.String(), "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet")
	case common && !at.Has():
		at.Invalid(nil, "the common encoding version is "+encodings[0])
	case common && at.String() != encodings[0]:
		at.Invalid(at.String(), "the actual common encoding version is "+encodings[0])
	}
}

// joinedAPIVersion checks an apiVersion. All its problems are one text.
func joinedAPIVersion(value string) []string {
	if texts := apiVersion(value); len(texts) > 0 {
		return []string{strings.Join(texts, ",")}
	}
	return nil
}

func apiVersion(value string) (texts []string) {
	parts := strings.Split(value, "/")
	check := func(part string, rule func(string) []string, prefix string) {
		if part == "" {
			texts = append(texts, prefix+"must be non-empty")
			return
		}
		for _, text := range rule(part) {
			texts = append(texts, prefix+text)
		}
	}
	switch len(parts) {
	case 1:
	case 2:
		check(parts[0], field.DNS1123Subdomain, "group part: ")
	default:
		return []string{"an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
			"and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"}
	}
	check(parts[len(parts)-1], field.DNS1035Label, "version part: ")
	return texts
}

// cellVersions lists the versions of the first three servers.
func cellVersions(obj object.Object) any {
	var list []string
	servers := obj.Objects("status", "storageVersions")
	for _, s := range servers[:min(len(servers), 3)] {
		list = append(list, s.String("apiServerID")+"="+s.String("encodingVersion"))
	}
	text := strings.Join(list, ",")
	if more := len(servers) - len(list); more > 0 {
		text += fmt.Sprintf(" + %d more...", more)
	}
	return text
}
