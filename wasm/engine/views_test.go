package engine

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// data queries a view and returns its data.
func (p *page) data(view string, more ...any) map[string]any {
	p.t.Helper()
	v, _ := p.must("query", append([]any{"view", view}, more...)...)["data"].(map[string]any)
	return v
}

func list(v any) []map[string]any {
	var out []map[string]any
	for _, x := range v.([]any) {
		out = append(out, x.(map[string]any))
	}
	return out
}

// TestTimeline checks that a lagging server's horizon is behind the store, and that a token expires with the history that it needs.
func TestTimeline(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	p.do("replicas 2", "create configmap a", "create configmap b", "lag 2", "watch configmaps --name w --via 2", "create configmap c",
		"list configmaps --limit=1 --as reader")
	lanes := map[string]map[string]any{}
	v := p.data("timeline")
	for _, l := range list(v["lanes"]) {
		lanes[l["id"].(string)] = l
	}
	is.Equal(lanes["store"]["horizon"], "4007")
	is.Equal(lanes["replica/1"]["horizon"], "4007")
	is.Equal(lanes["replica/2"]["horizon"], "4006") // c has not come through
	is.Equal(lanes["replica/2"]["state"], "lagging")
	is.Equal(lanes["watch/w"]["replica"], 2.0)
	token := list(v["tokens"])[0]
	is.Equal(token["rv"], "4007")
	is.Equal(token["start"], "a")
	is.Equal(token["expired"], false)
	p.do("create configmap d", "expire")
	v = p.data("timeline")
	is.Equal(list(v["tokens"])[0]["expired"], true)                         // its revision is forgotten
	is.Equal(p.data("token", "token", token["token"])["expired"], true)     // and the token, opened, says so, too
	answer := p.do("list configmaps --limit=1 --continue=last --as reader") // as does the server
	is.Equal(at(answer, "result.http.res.code"), 410.0)
	is.True(list(p.data("timeline")["tokens"])[0]["to"] != nil) // the request that used it is known
}

func TestObjectViews(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	p.do("create configmap a --from-literal k=1 --as alice", "patch configmap a -p '{\"data\":{\"k\":\"2\"}}' --as bob", "tick 90s", "delete configmap a")
	one := []any{"resource", "configmaps", "ns", "default", "name", "a"}
	is.Equal(p.send("query", append([]any{"view", "object"}, one...)...)["kind"], "error") // it is gone
	v := p.data("object", append(one, "at", "4005")...)
	is.True(strings.Contains(v["text"].(string), "k: \"1\"")) // but it was there
	is.True(strings.HasPrefix(p.data("object", append(one, "at", "4005", "format", "json")...)["text"].(string), "{\n"))
	is.True(len(p.data("object", append(one, "at", "4006", "format", "protobuf")...)["fields"].([]any)) > 1)
	var changed []string
	for _, l := range list(p.data("diff", append(one, "from", "4005", "to", "4006")...)["lines"]) {
		if text := l["text"].(string); l["op"] != " " && strings.Contains(text, "k: ") {
			changed = append(changed, l["op"].(string)+strings.TrimSpace(text))
		}
	}
	is.Equal(strings.Join(changed, " "), `-k: "1" +k: "2"`)
	var types []string
	for _, r := range list(p.data("history", one...)["revisions"]) {
		types = append(types, r["type"].(string)+" "+r["rv"].(string))
	}
	is.Equal(strings.Join(types, ", "), "ADDED 4005, MODIFIED 4006, DELETED 4007")
	rows := list(p.data("table", "resource", "configmaps", "at", "4006")["rows"])
	is.Equal(rows[0]["cells"], []any{"a", 1.0, "90s"}) // as kubectl get shows it
	managers := list(p.data("owners", append(one, "at", "4006")...)["managers"])
	is.Equal(managers[1]["name"], "bob")
}

func TestExchange(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	p.do("watch configmaps --name w --as bob", "create configmap a")
	answer := p.do("get configmap a -o protobuf")
	fields := list(at(answer, "result.http.res.fields"))
	is.Equal(fields[0]["name"], "typeMeta") // a protobuf body is opened
	is.Equal(at(answer, "result.http.res.encoding"), "base64")
	v := p.data("exchange", "frame", 1)
	is.Equal(at(v, "req.path"), "/api/v1/namespaces/default/configmaps?watch=true")
	is.Equal(list(v["events"])[0]["name"], "default/a")
	is.Equal(list(v["events"])[0]["type"], "ADDED") // what came through the watch since
	is.Equal(p.data("watches")["watches"].([]any)[0].(map[string]any)["open"], true)
	is.Equal(list(p.data("clients")["clients"])[0]["name"], "bob")
}

func TestComplete(t *testing.T) {
	t.Parallel()
	p := newPage(t)
	p.must("boot")
	p.do("create configmap shop", "create secret shoe -n kube-system")
	for line, want := range map[string]string{ // order does not matter: each is asked for
		"wat":                           "watch",
		"get config":                    "configmaps",
		"get configmap sh":              "shop",
		"get secrets -n kube-system sh": "shoe",
		"get secrets -n kube-sy":        "kube-system",
		"list pods --rv-match=E":        "--rv-match=Exact",
		"patch configmap shop --ty":     "--type=",
		"get pods -o ya":                "yaml",
		"tick n":                        "next",
		"restart ":                      "1",
		"request GET /apis/apps/v1/dep": "/apis/apps/v1/deployments",
	} {
		items := list(p.data("complete", "line", line, "cursor", len(line))["items"])
		if len(items) == 0 || items[0]["text"] != want {
			t.Errorf("%q is completed by %v, want %s", line, items, want)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	p.do("replicas 2", "cut 2", "fault on update pods do fail Conflict", "watch pods --name w --bookmarks")
	is.Equal(list(p.data("replicas")["replicas"])[1]["cut"], true)
	is.True(strings.HasPrefix(list(p.data("faults")["faults"])[0]["text"].(string), "on update pods"))
	is.True(at(p.data("clock"), "next.in") != nil) // a bookmark will come
	is.True(len(p.data("resources")["resources"].([]any)) > 50)
	is.True(len(p.data("help", "command", "get")["commands"].([]any)) == 1)
}
