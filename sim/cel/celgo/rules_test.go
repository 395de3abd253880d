package celgo

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	o, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// check compiles a schema and validates self with it, as an update of old if that is not "".
func check(t testing.TB, schema, self, old string) (compile, validate, warnings []string) {
	t.Helper()
	rules, bad := CompileVersion(expr.Environment{}, parse(t, schema), expr.Known{}, field.Root("schema"), nil)
	for _, e := range bad {
		compile = append(compile, e.Error())
	}
	if rules == nil {
		return compile, nil, nil
	}
	var was *structural.Correlation
	obj := parse(t, self)
	if old != "" {
		was = structural.Correlate(structural.Parse(parse(t, schema), 36), obj, parse(t, old))
	}
	budget := int64(expr.RuleBudget)
	errs, ratcheted := rules.Validate(obj, was, field.Path{}, &budget)
	for _, e := range errs {
		validate = append(validate, e.Error())
	}
	for _, e := range ratcheted {
		warnings = append(warnings, e.Error())
	}
	return compile, validate, warnings
}

// spec returns a schema whose spec has the given properties and rules.
func spec(properties, rules string) string {
	return `{"type":"object","properties":{"spec":{"type":"object","properties":{` + properties + `},"x-kubernetes-validations":[` + rules + `]}}}`
}

func TestRecordedRules(t *testing.T) {
	schema := spec(`"min":{"type":"integer"},"max":{"type":"integer"},"name":{"type":"string","maxLength":20},
		"fixed":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"fixed is immutable"}]}`,
		`{"rule":"self.min <= self.max","message":"min must not exceed max"},
		{"rule":"!has(self.name) || self.name != 'bad'","messageExpression":"'name ' + self.name + ' is not allowed'","reason":"FieldValueForbidden","fieldPath":".name"},
		{"rule":"has(self.min) && self.min >= 0"},
		{"rule":"oldSelf.max <= self.max","message":"max may only grow"}`)
	tests := []struct {
		self, old string
		want      []string
	}{
		{`{"spec":{"min":1,"max":5,"fixed":"f"}}`, ``, nil},
		{`{"spec":{"min":6,"max":5}}`, ``, []string{`spec: Invalid value: min must not exceed max`}},
		{`{"spec":{"min":1,"max":5,"name":"bad"}}`, ``, []string{`spec.name: Forbidden: name bad is not allowed`}},
		{`{"spec":{"min":-1,"max":5}}`, ``, []string{`spec: Invalid value: failed rule: has(self.min) && self.min >= 0`}},
		{`{"spec":{"min":-1,"max":-5,"name":"bad"}}`, ``, []string{`spec: Invalid value: min must not exceed max`,
			`spec.name: Forbidden: name bad is not allowed`, `spec: Invalid value: failed rule: has(self.min) && self.min >= 0`}},
		{`{"spec":{"min":1,"max":4}}`, `{"spec":{"min":1,"max":5}}`, []string{`spec: Invalid value: max may only grow`}},
		{`{"spec":{"min":1,"max":9,"fixed":"x"}}`, `{"spec":{"min":1,"max":9,"fixed":"f"}}`, []string{`spec.fixed: Invalid value: "x": fixed is immutable`}},
		{`{"spec":{"min":1,"max":9}}`, `{"spec":{"min":1,"max":9,"fixed":"f"}}`, nil},
		{`{"spec":{"min":1,"max":9,"fixed":"new"}}`, `{"spec":{"min":1,"max":9}}`, nil},
	}
	for _, tt := range tests {
		is := is.New(t)
		compile, got, _ := check(t, schema, tt.self, tt.old)
		is.Equal(compile, nil) // the rules compile
		is.Equal(got, tt.want) // as recorded
	}
}

func TestExpressionsOfRules(t *testing.T) {
	properties := `"s":{"type":"string","maxLength":50},"n":{"type":"number"},"i":{"type":"integer"},
		"l":{"type":"array","maxItems":9,"items":{"type":"string","maxLength":9}},
		"m":{"type":"object","maxProperties":9,"additionalProperties":{"type":"integer"}},
		"x":{"x-kubernetes-int-or-string":true},"d":{"type":"string","format":"duration"},"t":{"type":"string","format":"date-time"},
		"b":{"type":"string","format":"byte"},"namespace":{"type":"string"},"a-b":{"type":"string"},
		"set":{"type":"array","x-kubernetes-list-type":"set","maxItems":9,"items":{"type":"string","maxLength":9}},
		"map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"maxItems":9,"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string","maxLength":9},"v":{"type":"integer"}}}},
		"maybe":{"type":"string","nullable":true}`
	self := `{"apiVersion":"g/v1","kind":"W","metadata":{"name":"w","uid":"u"},"spec":{"s":"hello","n":1.5,"i":3,"l":["c","a"],"m":{"z":1,"a":2},
		"x":"5%","d":"1h","t":"2026-01-02T03:04:05Z","b":"aGk=","namespace":"ns","a-b":"dash","set":["a","b"],
		"map":[{"k":"x","v":1},{"k":"y","v":2}],"maybe":null}}`
	for _, rule := range []string{
		"self.s.size() == 5", "self.s.startsWith('he')", "self.s.matches('^h.*o$')", "self.s.upperAscii() == 'HELLO'",
		"self.s.find('l+') == 'll'", "self.s.findAll('[a-z]').size() == 5", "self.s.findAll('[a-z]', 2) == ['h','e']",
		"self.n > 1", "self.i == 3", "self.n < self.i", "self.l.isSorted() == false", "self.l.min() == 'a'", "self.l.max() == 'c'",
		"[1,2,3].sum() == 6", "self.l.indexOf('a') == 1", "self.l.lastIndexOf('x') == -1", "self.l.all(x, x.size() == 1)",
		"self.m['z'] == 1", "'a' in self.m", "self.m.all(k, self.m[k] > 0)", "self.m.map(k, k) == ['a','z']", "self.m.size() == 2",
		"type(self.x) == string && self.x == '5%'", "self.d == duration('60m')", "self.t.getFullYear() == 2026", "self.b == b'hi'",
		"self.__namespace__ == 'ns'", "self.a__dash__b == 'dash'", "!has(self.maybe)", "self.set == ['b','a']", "self.set + ['b','c'] == ['a','b','c']",
		"self.map.exists(e, e.k == 'y' && e.v == 2)", "self.map.filter(e, e.v > 1).size() == 1",
		"quantity('1500m').isGreaterThan(quantity('1'))", "quantity('1Gi').compareTo(quantity('1024Mi')) == 0", "isQuantity('x') == false",
		"quantity('1').add(2).asInteger() == 3", "quantity('1500m').asApproximateFloat() == 1.5", "sign(quantity('50k')) == 1",
		"ip('10.0.0.1').family() == 4", "cidr('10.0.0.0/8').containsIP('10.1.2.3')", "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
		"isIP('::1') && !isIP('x')", "ip('::1').isLoopback()", "ip.isCanonical('127.0.0.1')", "string(cidr('10.0.0.1/8').masked()) == '10.0.0.0/8'",
		"cidr('10.0.0.0/8').prefixLength() == 8", "cidr('10.0.0.1/8').ip() == ip('10.0.0.1')",
		"url('https://a:8/b?c=d').getHost() == 'a:8'", "url('https://a:8/b?c=d').getQuery()['c'] == ['d']", "isURL('/abs') && !isURL('x y')",
		"semver('1.2.3').isLessThan(semver('1.10.0'))", "semver('1.0.0-alpha.1').isLessThan(semver('1.0.0'))", "semver('v1.2', true).minor() == 2",
		"isSemver('1.2') == false", "!format.dns1123Label().validate('ok').hasValue()", "format.dns1123Label().validate('NO').value().size() == 1",
		"format.named('uuid').value().validate('x').hasValue()", "sets.contains(self.l, ['a'])", "[1,2].transformList(i, v, v + i) == [1,3]",
		"{'b':1,'a':2}.map(k, k) == ['a','b']", "{'b':1,'a':2}.transformMap(k, v, v * 2) == {'a':4,'b':2}", "[3,1,2].sort() == [1,2,3]",
		"self.?nope.orValue('none') == 'none' || true", "[1,2].slice(0,1) == [1]", "'%s %d'.format(['a', 1]) == 'a 1'", "'a,b'.split(',') == ['a','b']",
	} {
		is := is.New(t)
		quoted := string(object.AppendString(nil, rule))
		compile, got, _ := check(t, spec(properties, `{"rule":`+quoted+`}`), self, "")
		if strings.Contains(rule, "nope") {
			is.True(len(compile) == 1 && strings.Contains(compile[0], "undefined field 'nope'")) // an unknown field
			continue
		}
		if compile != nil || got != nil {
			t.Log(rule)
		}
		is.Equal(compile, nil) // compiles
		is.Equal(got, nil)     // holds
	}
}

func TestRootSeesMetadata(t *testing.T) {
	is := is.New(t)
	schema := `{"type":"object","properties":{"spec":{"type":"object"}},"x-kubernetes-validations":[
		{"rule":"self.metadata.name.startsWith('w') && self.kind == 'W' && self.apiVersion == 'g/v1'"},{"rule":"self.metadata.uid == ''"}]}`
	compile, got, _ := check(t, schema, `{"apiVersion":"g/v1","kind":"W","metadata":{"name":"w","uid":"u"}}`, "")
	is.Equal(len(compile), 1)                                                                                     // nothing but the names of metadata can be seen
	is.True(strings.Contains(compile[0], "undefined field 'uid'"))                                                // the reason
	is.Equal(len(got), 1)                                                                                         // a rule that does not compile fails
	is.True(strings.Contains(got[0], "<nil>: Invalid value: \"object\": rule compile error: compilation failed")) // with the error
}

func TestCompileErrors(t *testing.T) {
	tests := []struct{ schema, want string }{
		{spec(`"s":{"type":"string"}`, `{"rule":"self.s"}`),
			`schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.s","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool`},
		{spec(`"s":{"type":"string"}`, `{"rule":"true","messageExpression":"1"}`), `messageExpression must evaluate to a string`},
		{spec(`"s":{"type":"string"}`, `{"rule":"true","messageExpression":"self.x"}`), `messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'x'`},
		{spec(`"s":{"type":"string"}`, `{"rule":"true","optionalOldSelf":true}`), `optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`},
		{spec(`"l":{"type":"array","maxItems":3,"items":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}`, `{"rule":"true"}`),
			`rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[spec].properties[l]`},
		{spec(`"l":{"type":"array","items":{"type":"string"}}`, `{"rule":"self.l.all(x, self.l.all(y, x == y))"}`),
			`estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`},
		{spec(`"l":{"type":"array","items":{"type":"string"}}`, `{"rule":"self.l.all(x, self.l.all(y, x == y))"}`),
			`schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x`},
	}
	for _, tt := range tests {
		is := is.New(t)
		compile, _, _ := check(t, tt.schema, `{}`, "")
		all := strings.Join(compile, "\n")
		if !strings.Contains(all, tt.want) {
			is.Equal(all, tt.want) // an error with this text
		}
	}
}

func TestEvaluationErrors(t *testing.T) {
	tests := []struct{ properties, rule, self, want string }{
		{`"m":{"type":"object","maxProperties":5,"additionalProperties":{"type":"string"}}`, `self.m['x'] == ''`, `{"spec":{"m":{}}}`,
			`spec: Invalid value: "object": no such key: x evaluating rule: self.m['x'] == ''`},
		{`"l":{"type":"array","maxItems":5,"items":{"type":"integer"}}`, `self.l[2] == 0`, `{"spec":{"l":[1]}}`,
			`spec: Invalid value: "object": index out of bounds: 2 evaluating rule: self.l[2] == 0`},
		{`"x":{"x-kubernetes-int-or-string":true}`, `self.x + 1 == 2`, `{"spec":{"x":"a"}}`,
			`spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.x + 1 == 2`},
		{`"t":{"type":"string"}`, `timestamp(self.t) > timestamp(0)`, `{"spec":{"t":"nonsense"}}`,
			`spec: Invalid value: "object": type conversion error from 'string' to 'google.protobuf.Timestamp' evaluating rule: timestamp(self.t) > timestamp(0)`},
		{`"t":{"type":"string"}`, `timestamp(self.t) < timestamp(0)`, `{"spec":{"t":"2000-01-01T00:00:00,5Z"}}`,
			`spec: Invalid value: failed rule: timestamp(self.t) < timestamp(0)`},
		{`"n":{"type":"integer"}`, `duration(self.n) > duration('1s')`, `{"spec":{"n":1}}`,
			`spec: Invalid value: "object": type conversion error from 'int' to 'google.protobuf.Duration' evaluating rule: duration(self.n) > duration('1s')`},
	}
	for _, tt := range tests {
		is := is.New(t)
		_, got, _ := check(t, spec(tt.properties, `{"rule":"`+tt.rule+`"}`), tt.self, "")
		is.Equal(got, []string{tt.want}) // the real server's text
	}
}

func TestRatcheting(t *testing.T) {
	is := is.New(t)
	schema := spec(`"a":{"type":"string","x-kubernetes-validations":[{"rule":"self == 'ok'","message":"not ok"}]},"b":{"type":"integer"}`, `{"rule":"true"}`)
	_, got, warnings := check(t, schema, `{"spec":{"a":"bad","b":2}}`, `{"spec":{"a":"bad","b":1}}`)
	is.Equal(got, nil)                                                   // the value was as wrong before
	is.Equal(warnings, []string{`spec.a: Invalid value: "bad": not ok`}) // a warning reports it
	_, got, warnings = check(t, schema, `{"spec":{"a":"worse"}}`, `{"spec":{"a":"bad"}}`)
	is.Equal(got, []string{`spec.a: Invalid value: "worse": not ok`}) // a changed value is an error
	is.Equal(warnings, nil)
	_, got, warnings = check(t, schema, `{"spec":{"a":"bad"},"kind":"K"}`, `{"spec":{"a":"bad"},"kind":"L"}`)
	is.Equal(got, nil)
	is.Equal(len(warnings), 1) // only the value itself counts
}

func TestOptionalOldSelf(t *testing.T) {
	is := is.New(t)
	schema := spec(`"a":{"type":"string"}`, `{"rule":"oldSelf.hasValue() || self.a == 'first'","optionalOldSelf":true}`)
	_, got, _ := check(t, schema, `{"spec":{"a":"x"}}`, "")
	is.Equal(len(got), 1) // a create evaluates the rule
	_, got, _ = check(t, schema, `{"spec":{"a":"x"}}`, `{"spec":{"a":"y"}}`)
	is.Equal(len(got), 0) // an update has an old value
}

func TestOldItemsByKey(t *testing.T) {
	is := is.New(t)
	schema := spec(`"m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"maxItems":5,"items":{"type":"object","required":["k"],
		"properties":{"k":{"type":"string"},"v":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"self.v >= oldSelf.v","message":"grow"}]}}`, `{"rule":"true"}`)
	_, got, _ := check(t, schema, `{"spec":{"m":[{"k":"b","v":1},{"k":"a","v":5},{"k":"c","v":0}]}}`, `{"spec":{"m":[{"k":"a","v":4},{"k":"b","v":2}]}}`)
	is.Equal(got, []string{"spec.m[0]: Invalid value: grow"}) // elements are correlated by key; new ones have no old value
}

func TestBudget(t *testing.T) {
	is := is.New(t)
	schema := parse(t, spec(`"l":{"type":"array","items":{"type":"integer"}}`, `{"rule":"self.l.all(x, self.l.all(y, x >= 0))"}`))
	rules, _ := CompileVersion(expr.Environment{}, schema, expr.Known{}, field.Path{}, nil)
	items := make([]any, 2000)
	for i := range items {
		items[i] = int64(i)
	}
	budget := int64(expr.RuleBudget)
	errs, _ := rules.Validate(map[string]any{"spec": map[string]any{"l": items}}, nil, field.Root("x"), &budget)
	is.Equal(len(errs), 1)                                                                                               // one error
	is.True(strings.Contains(errs[0].Error(), "no further validation rules will be run due to call cost exceeds limit")) // and validation stops
	is.Equal(budget, int64(-1))                                                                                          // the budget is gone
}

func TestCheckRules(t *testing.T) {
	tests := []struct{ rule, want string }{
		{`{"rule":" "}`, `x-kubernetes-validations[0].rule: Required value: rule is not specified`},
		{`{"rule":"true","message":" "}`, `x-kubernetes-validations[0].message: Invalid value: " ": must be non-empty if specified`},
		{`{"rule":"true","message":"a\nb"}`, `x-kubernetes-validations[0].message: Invalid value: "a\nb": must not contain line breaks`},
		{`{"rule":"true &&\n true"}`, `x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks`},
		{`{"rule":"true","messageExpression":" "}`, `x-kubernetes-validations[0].messageExpression: Required value: messageExpression must be non-empty if specified`},
		{`{"rule":"true","reason":"Nope"}`, `x-kubernetes-validations[0].reason: Unsupported value: "Nope": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`},
		{`{"rule":"true","fieldPath":".x"}`, `x-kubernetes-validations[0].fieldPath: Invalid value: ".x": must be a valid path`},
		{`{"rule":"true","fieldPath":".a['b.c']"}`, ``},
	}
	for _, tt := range tests {
		is := is.New(t)
		schema := parse(t, `{"type":"object","properties":{"a":{"type":"object","properties":{"b.c":{"type":"string"}}}},"x-kubernetes-validations":[`+tt.rule+`]}`)
		errs, got := expr.CheckRules(schema, field.Path{}, func() bool { return true }), ""
		if len(errs) > 0 {
			got = errs[0].Error()
		}
		is.Equal(got, tt.want)
	}
}

func TestEscape(t *testing.T) {
	is := is.New(t)
	for name, want := range map[string]string{"a": "a", "a-b": "a__dash__b", "a.b/c": "a__dot__b__slash__c", "x__y": "x__underscores__y", "if": "__if__"} {
		got, ok := escape(name)
		is.True(ok)
		is.Equal(got, want)
		back, ok := unescape(got)
		is.True(ok)
		is.Equal(back, name) // the inverse
	}
	_, ok := escape("1a")
	is.True(!ok) // not an identifier
	_, ok = escape("a b")
	is.True(!ok)
	_, ok = unescape("a__what__b")
	is.True(!ok) // not an escape
}

// TestKnownRules checks that stored rules may use functions that are available only to stored expressions, and may exceed
// the cost limit, but that their other errors are reported again (apiextensions validation: preexistingExpressions,
// suppressPerExpressionCost).
func TestKnownRules(t *testing.T) {
	const own, dear = "self.l.includes(1)", "self.l.all(x, self.l.all(y, self.l.all(z, x + y > z)))"
	both := expr.Known{Rules: map[string]bool{own: true}, Messages: map[string]bool{"string([1].includes(1))": true}}
	const list = `"l":{"type":"array","items":{"type":"integer"}}`
	tests := []struct {
		name, rule string
		known      expr.Known
		want       []string // in the errors
	}{
		{"a new rule", `{"rule":"self.l.includes(1)"}`, expr.Known{}, []string{"undeclared reference to 'includes'"}},
		{"a stored rule", `{"rule":"self.l.includes(1)"}`, both, nil},
		{"a stored rule beside a new one", `{"rule":"self.l.includes(1)"},{"rule":"self.l.includes(2)"}`, both, []string{"undeclared reference to 'includes'"}},
		{"a stored message", `{"rule":"true","messageExpression":"string([1].includes(1))"}`, both, nil},
		{"a new message of a stored rule", `{"rule":"self.l.includes(1)","messageExpression":"string([2].includes(1))"}`, both, []string{"messageExpression compilation failed"}},
		{"a stored message is no rule", `{"rule":"string([1].includes(1))"}`, both, []string{"undeclared reference to 'includes'"}},
		{"what is wrong in the same schema", `{"rule":"self.nothing"}`, expr.Known{Rules: map[string]bool{"self.nothing": true}, Unchanged: true},
			[]string{"undefined field 'nothing'"}},
		{"a dear rule", `{"rule":"` + dear + `"}`, expr.Known{Rules: map[string]bool{dear: true}},
			[]string{"estimated rule cost exceeds", "contributed to", "for entire OpenAPIv3 schema exceeds"}},
		{"a dear rule of the same schema", `{"rule":"` + dear + `"}`, expr.Known{Unchanged: true}, []string{"contributed to", "for entire OpenAPIv3 schema exceeds"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			_, errs := CompileVersion(expr.Environment{Minor: 37}, parse(t, spec(list, tt.rule)), tt.known, field.Root("p"), nil)
			is.Equal(len(errs), len(tt.want))
			for i, want := range tt.want {
				is.True(strings.Contains(errs[i].Error(), want)) // the expected error
			}
		})
	}
}
