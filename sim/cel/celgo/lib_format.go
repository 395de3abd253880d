package celgo

import (
	"net/url"
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

var typeFormat = cel.ObjectType("kubernetes.NamedFormat")

// namedFormat is a string format that can be validated.
type namedFormat struct {
	name  string
	check func(string) []string
	regex uint64 // length of an equivalent regular expression, which determines the cost
}

// namedFormats are the formats by name.
var namedFormats = map[string]namedFormat{
	"dns1123Label":           {"DNS1123Label", nameFormat(field.NameDNSLabel, false), 30},
	"dns1123Subdomain":       {"DNS1123Subdomain", nameFormat(field.NameDNSSubdomain, false), 60},
	"dns1035Label":           {"DNS1035Label", nameFormat(field.NameDNS1035Label, false), 30},
	"qualifiedName":          {"QualifiedName", field.QualifiedName, 60},
	"dns1123LabelPrefix":     {"DNS1123LabelPrefix", nameFormat(field.NameDNSLabel, true), 30},
	"dns1123SubdomainPrefix": {"DNS1123SubdomainPrefix", nameFormat(field.NameDNSSubdomain, true), 60},
	"dns1035LabelPrefix":     {"DNS1035LabelPrefix", nameFormat(field.NameDNS1035Label, true), 30},
	"labelValue":             {"LabelValue", field.LabelValue, 40},
	"uri":                    {"URI", checkURI, 1103},
	"uuid":                   {"uuid", textFormat(openAPI("uuid"), "does not match the UUID format"), 76},
	"byte":                   {"byte", textFormat(base64Format.MatchString, "invalid base64"), 84},
	"date":                   {"date", textFormat(openAPI("date"), "invalid date"), 71},
	"datetime":               {"datetime", textFormat(openAPI("datetime"), "invalid datetime"), 71},
}

func nameFormat(rule func(string, bool) []string, prefix bool) func(string) []string {
	return func(s string) []string { return rule(s, prefix) }
}

func textFormat(ok func(string) bool, message string) func(string) []string {
	return func(s string) []string {
		if ok(s) {
			return nil
		}
		return []string{message}
	}
}

func checkURI(s string) []string {
	if _, err := url.ParseRequestURI(s); err != nil {
		return []string{err.Error()}
	}
	return nil
}

var base64Format = regexp.MustCompile(`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$`)

// openAPI returns the check of an OpenAPI format.
func openAPI(format string) func(string) bool {
	return func(s string) bool { return structural.Matches(format, s) }
}

func formatVal(f namedFormat) ref.Val {
	return &special{typ: typeFormat, value: f, text: f.name, equal: func(other any) bool { return other.(namedFormat).name == f.name }}
}

// formatFunctions returns format.named, one function for each format, and validate.
func formatFunctions() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.Function("format.named", overload("format-named", cel.OptionalType(typeFormat), unary(func(name string) ref.Val {
			f, ok := namedFormats[name]
			if !ok {
				return types.OptionalNone
			}
			return types.OptionalOf(formatVal(f))
		}), cel.StringType)),
		cel.Function("validate", member("format-validate", cel.OptionalType(cel.ListType(cel.StringType)),
			binary(func(f namedFormat, s string) ref.Val {
				problems := f.check(s)
				if len(problems) == 0 {
					return types.OptionalNone
				}
				return types.OptionalOf(types.NewStringList(types.DefaultTypeAdapter, problems))
			}), typeFormat, cel.StringType)),
	}
	for _, name := range object.SortedKeys(namedFormats) {
		f := formatVal(namedFormats[name])
		options = append(options, cel.Function("format."+name,
			cel.Overload("format."+name, nil, typeFormat, cel.FunctionBinding(func(...ref.Val) ref.Val { return f }))))
	}
	return options
}
