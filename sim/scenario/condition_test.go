package scenario

import (
	"testing"

	"github.com/matryer/is"
)

// TestConditions checks whether conditions hold, and their explanations.
func TestConditions(t *testing.T) {
	t.Parallel()
	w := world(t, Options{Files: map[string]string{"pods.yaml": `
{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: x, a.io/b: c}}, spec: {nodeName: n1, containers: [{name: c, image: i}, {name: d, image: j}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, labels: {app: x}}, spec: {containers: [{name: c, image: i}]}}`}})
	do(t, w, "watch pods --name w --rv 0", "create -f pods.yaml", "informer i po", "create cm k -n kube-system --from-literal n=10 --as alice",
		"delete pods b --grace 0", "let rv = .metadata.resourceVersion", "list pods --limit 1 --as bob")
	for condition, why := range map[string]string{ // order does not matter
		"status 200":                                         "the last answer is 200 OK",
		"not status 200 Conflict":                            "the last answer is 200 OK",
		"status < 300 and status != 404":                     "status is 200, status is 200",
		"method == GET and client == bob":                    "method is GET, client is bob",
		"path contains limit=1":                              "path is /api/v1/namespaces/default/pods?limit=1",
		".items[0].metadata.name == a":                       ".items[0].metadata.name is a",
		`.items[0].metadata.labels["a.io/b"] == c`:           `.items[0].metadata.labels["a.io/b"] is c`,
		".items[*].spec.containers[*].image exists":          ".items[*].spec.containers[*].image is there",
		".items[*].metadata.name contains a":                 `.items[*].metadata.name is ["a"]`,
		".metadata.continue absent":                          ".metadata.continue is not there",
		"len .items == 1":                                    "len .items is 1",
		"pods/a .spec.containers[1].image == j":              "pods/a .spec.containers[1].image is j",
		"not pods/b exists or pods/nope exists":              "pods/b is not there",
		"cm/kube-system/k .data.n > 9":                       "cm/kube-system/k .data.n is 10",
		"count pods -l app=x == 1":                           "count pods -l app=x is 1",
		"count cm -n kube-system == 1":                       "count cm -n kube-system is 1",
		"count pods where .spec.nodeName == n1 == 1":         "count pods is 1",
		"count pods where (.a exists or not .b exists) == 1": "count pods is 1",
		"count pods == len .items":                           "count pods is 1, len .items is 1",
		"pods/a .metadata.uid == .items[0].metadata.uid":     "",
		"every pods .spec.nodeName == n1":                    "it holds for all 1",
		"unique pods .spec.nodeName":                         "all are different",
		"informer/i sees pods/a":                             "in the cache of i pods/a is there",
		"informer/i count pods == 1":                         "in the cache of i count pods is 1",
		"informer/i pods/a .spec.nodeName == n1":             "in the cache of i pods/a .spec.nodeName is n1",
		"informer/i synced":                                  "i: watches",
		"watch/w saw DELETED b and watch/w open":             "w saw it, w is open",
		"watch/w count ADDED == 2":                           "watch/w count ADDED is 2",
		"not watch/w error 410":                              "w had no error",
		"watch/w path contains resourceVersion=0":            "watch/w path is /api/v1/namespaces/default/pods?resourceVersion=0&watch=true",
		"watch/w rv == 4009":                                 "watch/w rv is 4009",
		"replica == 1":                                       "replica is 1",
		"seen http.res 201 by alice":                         "seen http.res 201 on client/alice is 1",
		"seen watch.event DELETED on watch/w == 1":           "seen watch.event DELETED on watch/w is 1",
		"not seen fault":                                     "seen fault is 0",
		"pods/a .metadata.resourceVersion < $rv":             "pods/a .metadata.resourceVersion is 4005",
		"not pods/a .metadata.creationTimestamp older 1s":    "pods/a .metadata.creationTimestamp is 0s old",
		"not waiting":                                        "0 requests wait",
	} {
		is := is.New(t)
		ok, got, err := w.Holds(condition)
		if err != nil || !ok {
			t.Log(condition, got, err)
		}
		is.NoErr(err)
		is.True(ok) // the condition holds
		if why != "" {
			is.Equal(got, why)
		}
	}
}

// TestConditionErrors checks that errors in a condition are reported before the operation runs.
func TestConditionErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // order does not matter
		"":                          "column 1: a condition is missing here, such as status 200 or pods/a exists",
		"pods":                      `column 1: "pods" is not a condition; begin with status, count pods, pods/NAME, .FIELD, informer/NAME or watch/NAME`,
		"pods/a/b/c exists":         `column 1: an object is RESOURCE/NAME or RESOURCE/NAMESPACE/NAME, such as pods/a, not "pods/a/b/c"`,
		".a..b exists":              "column 3: the name of a field is missing after the dot",
		".a[x] exists":              `column 3: brackets contain a number, * or a name in quotes, not "x"`,
		".a[0 exists":               "column 3: the bracket has no end; put a ] after it",
		"count == 2":                "column 7: name a resource here, as in count pods == 2",
		"count pods -l a=,=b == 2":  "column 15: ",
		"status 200 status 404":     `column 12: the condition ends before "status"; join conditions with and, or`,
		"pods/a .b older soon":      `column 17: older needs a duration such as 15s, not "soon"`,
		"watch/w saw GONE":          `column 13: "GONE" is not a type of event; there are ADDED, MODIFIED, DELETED, BOOKMARK and ERROR`,
		"seen http.result 410":      `column 6: "http.result" is not a kind of frame; `,
		"every pods .a == b extra":  `column 20: the condition ends before "extra"; join conditions with and, or`,
		"pods/a .spec.replicas = 3": "column 23: to compare, write ==",
	} {
		is := is.New(t)
		_, err := ParseCondition(text)
		is.True(err != nil)
		is.Equal(err.Error()[:min(len(want), len(err.Error()))], want)
	}
}

func FuzzParseCondition(f *testing.F) {
	f.Add(`not (status 409 Conflict or .a["b.c"][*].d contains "x y") and count pods -l a=b where .c older 5s >= 2`)
	f.Add(`informer/x sees pods/a .b == c/d .e or watch/w count ADDED < 3 and every {{x}} .y == {{z}}`)
	f.Add("seen http.res 410 Expired by a >= 1 and unique pods .a and header A == 1")
	w, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCondition(text)
		if err != nil {
			if e, ok := err.(*SyntaxError); !ok || e.Column < 1 {
				t.Fatalf("%q: an error that says nothing: %v", text, err)
			}
			return
		}
		_, _, _ = c.Holds(w.scope(0)) // must not panic
	})
}

func FuzzParseRules(f *testing.F) {
	f.Add("watch: [pods]\nresync: 30s\nrules:\n- {name: a, for: cm, when: [\".a == {{name}}\"], range: .spec.n, do: \"create cm {{name}}-{{i}}\"}")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseRules(text)
		if err == nil && (len(rules.Rules) == 0 || len(rules.Watch) == 0) {
			t.Fatalf("%q: rules without a rule", text)
		}
	})
}

// TestRuleErrors checks that an error in rules names the rule and suggests a correction.
func TestRuleErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // order does not matter
		"rules: []":                                    "there are no rules: give at least one, with for and do",
		"rule: [a]":                                    `the rules has no "rule"; did you mean rules?`,
		"rules: [{for: pods}]":                         "rule 1: a rule needs a resource in for, and requests in do",
		"rules: [{for: pods, do: tick 5m}]":            "rule 1: do tick 5m: a rule sends its requests itself: neither tick nor --as is allowed",
		"rules: [{for: pods, do: [1]}]":                "rule 1: do is a list of texts; put quotes around values that YAML does not read as text",
		"rules: [{for: p, when: '.a = 1', do: get p}]": "rule 1: when .a = 1: column 4: to compare, write ==",
		"rules: [{for: p, do: 'get p {{count}}'}]":     "rule 1: {{count}}: column 6: name a resource here, as in count pods == 2",
		"resync: 1\nrules: [{for: p, do: get p}]":      `resync is a duration of a second or more, such as 30s; not "1"`,
		"rules: [{for: p, if: x, do: get p}]":          `rule 1: a rule has no "if"; there are name, for, when, range, do`,
	} {
		is := is.New(t)
		_, err := ParseRules(text)
		is.True(err != nil)
		is.Equal(err.Error(), want)
	}
}
