package conformance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// untilServed is the time after which a definition must be served.
const untilServed = 10 * time.Second

// write adds a random write of an object of the sample's kind to the story.
func (t *teller) write(x sample) {
	body, name := t.body(x)
	at := x.path + "/" + name
	switch t.IntN(16) {
	case 0, 1, 2, 3:
		t.step("POST", x.path+t.query(true), asJSON, body)
	case 4:
		t.step("PUT", at+t.query(true), asJSON, body)
	case 5:
		t.step("PATCH", at+t.query(true), "application/merge-patch+json", t.one(
			`{"metadata":{"labels":{"patched":"merge"}}}`, `{"metadata":{"annotations":{"a":"b"}}}`, `{}`, `{"metadata":{"labels":null}}`, `{"spec":{"extra":1}}`))
	case 6:
		t.step("PATCH", at+t.query(true), "application/strategic-merge-patch+json", t.one(
			`{"metadata":{"labels":{"patched":"strategic"}}}`, `{"metadata":{"finalizers":["example.com/kept"]}}`))
	case 7:
		t.step("PATCH", at+t.query(true), "application/json-patch+json", t.one(
			`[{"op":"add","path":"/metadata/labels/patched","value":"json"}]`, `[{"op":"remove","path":"/metadata/labels"}]`))
	case 8, 9:
		t.step("PATCH", at+t.applied(), "application/apply-patch+yaml", t.configuration(x, body))
	case 10, 11:
		t.remove(at)
	case 12:
		t.step("DELETE", x.path+"?labelSelector=story%3D{{ns}}"+t.one("", "&dryRun=All", "&propagationPolicy=Orphan", "&gracePeriodSeconds=0"), "", "")
	case 13:
		t.step("PUT", at+"/status"+t.query(true), asJSON, t.status(body))
	case 14:
		t.step("PATCH", at+"/status"+t.query(true), "application/merge-patch+json", t.one(`{"metadata":{"labels":{"status":"yes"}}}`, `{"status":{"phase":"Odd"}}`, `{"status":{"conditions":[]}}`))
	default:
		t.subresource(x, at)
	}
}

// body returns the sample as JSON, with a label that webhooks select and sometimes another change, and its name.
func (t *teller) body(x sample) (text, name string) {
	var obj map[string]any
	data, err := json.Marshal(x.body)
	if err == nil {
		err = json.Unmarshal(data, &obj)
	}
	if err != nil {
		panic(err) // it was read from JSON
	}
	meta, _ := obj["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		obj["metadata"] = meta
	}
	name, _ = meta["name"].(string)
	if name == "" {
		name = "none"
	}
	labels, _ := meta["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
		meta["labels"] = labels
	}
	labels["story"] = "{{ns}}"
	switch t.IntN(8) {
	case 0:
		labels["more"] = t.one("1", "2")
	case 1:
		meta["annotations"] = map[string]any{"note": t.one("<a>", "é")}
	case 2:
		obj["status"] = map[string]any{}
	case 3:
		meta["finalizers"] = []any{"example.com/kept"}
	case 4:
		meta["ownerReferences"] = []any{owner, owner}
	}
	data, err = json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return string(data), name
}

// named returns the sample as JSON, with another name and no other metadata.
func (t *teller) named(x sample, name string) string {
	body := maps.Clone(x.body)
	body["metadata"] = map[string]any{"name": name}
	data, err := json.Marshal(body)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return string(data)
}

var owner = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "00000000-1111-2222-3333-444444444444"}

// query returns random parameters of a write.
func (t *teller) query(dry bool) string {
	var q []string
	if t.IntN(4) == 0 {
		q = append(q, "fieldManager="+t.one("me", "somebody"))
	}
	if t.IntN(5) == 0 {
		q = append(q, "fieldValidation="+t.one("Strict", "Warn", "Ignore"))
	}
	if dry && t.IntN(6) == 0 {
		q = append(q, "dryRun=All")
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + strings.Join(q, "&")
}

func (t *teller) applied() string {
	return "?fieldManager=" + t.one("applier", "other") + t.one("", "&force=true", "&force=true&fieldValidation=Strict", "&dryRun=All")
}

// configuration returns a body with an apiVersion, which server-side apply requires.
func (t *teller) configuration(x sample, body string) string {
	group, version, _, _ := x.resource()
	var obj map[string]any
	if err := json.Unmarshal([]byte(body), &obj); err != nil {
		panic(err)
	}
	if obj["apiVersion"] == nil {
		obj["apiVersion"] = version
		if group != "" {
			obj["apiVersion"] = group + "/" + version
		}
	}
	data, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (t *teller) status(body string) string {
	var obj map[string]any
	if err := json.Unmarshal([]byte(body), &obj); err != nil {
		panic(err)
	}
	obj["status"] = map[string]any{"phase": t.one("Active", "Odd"), "replicas": 1}
	data, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// remove adds a delete with random options, in the query or in the body.
func (t *teller) remove(at string) {
	if t.IntN(2) == 0 {
		t.step("DELETE", at+t.one("", "", "?gracePeriodSeconds=0", "?gracePeriodSeconds=-5", "?propagationPolicy=Foreground", "?propagationPolicy=Orphan",
			"?orphanDependents=true", "?dryRun=All", "?uid=none", "?resourceVersion=1"), "", "")
		return
	}
	t.step("DELETE", at, asJSON, t.one(`{}`, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}`, `{"propagationPolicy":"Background"}`,
		`{"preconditions":{}}`, `{"preconditions":{"uid":"none"}}`, `{"orphanDependents":false}`, `{"dryRun":["All"]}`, `{"gracePeriodSeconds":7}`,
		`{"ignoreStoreReadErrorWithClusterBreakingPotential":false}`))
}

// subresource adds a write to a subresource of the object, if its kind has one that the test covers.
func (t *teller) subresource(x sample, at string) {
	_, _, resource, _ := x.resource()
	switch resource {
	case "pods":
		switch t.IntN(4) {
		case 0:
			t.step("POST", at+"/eviction"+t.query(true), asJSON, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"`+at[strings.LastIndexByte(at, '/')+1:]+`","labels":{"story":"{{ns}}"}}}`)
		case 1:
			t.step("POST", at+"/binding"+t.query(true), asJSON, `{"target":{"kind":"Node","name":"n"}}`)
		case 2:
			t.step("PATCH", at+"/ephemeralcontainers", "application/strategic-merge-patch+json", `{"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`)
		default:
			t.step("PATCH", at+"/resize", "application/merge-patch+json", `{"spec":{"containers":[]}}`)
		}
	case "serviceaccounts":
		t.step("POST", at+"/token", asJSON, `{"spec":{"audiences":["a"],"expirationSeconds":600},"metadata":{"labels":{"story":"{{ns}}"}}}`).Ignore = []string{"status"}
	default:
		if t.IntN(2) == 0 {
			t.step("PATCH", at+"/scale"+t.query(true), "application/merge-patch+json", fmt.Sprintf(`{"spec":{"replicas":%d}}`, t.IntN(4)))
		} else {
			t.step("PUT", at+"/scale"+t.query(true), asJSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":%d}}`, at[strings.LastIndexByte(at, '/')+1:], t.IntN(4)))
		}
	}
}
