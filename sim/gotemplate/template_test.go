package gotemplate

import (
	"encoding/json"
	"strings"
	"testing"
	"text/template"
)

const list = `{"kind":"List","apiVersion":"v1","none":null,"yes":true,"no":false,"n":3,"big":12345678901,"half":0.5,"empty":"","nothing":[],
"words":["a","b","c"],"nested":{"x":{"y":"z"},"list":[[1,2],[3]]},"html":"<b>'\"&\u00e9","items":[
{"metadata":{"name":"web-1","labels":{"app":"web","tier":"front"}},"spec":{"containers":[{"name":"a","image":"nginx"},{"name":"b"}],"replicas":2}},
{"metadata":{"name":"db-0"},"spec":{"containers":[],"replicas":0}}]}`

// templates are executed by this package and by text/template.
var templates = []string{
	"", "plain", "{{/* comment */}}", "{{.kind}}", "{{ .kind -}}  x", "{{.missing}}", "{{.missing.more}}", "{{.none}}", "{{.none.more}}", "{{.kind.more}}", "{{.n}} {{.big}} {{.half}} {{.yes}}",
	"{{.nested}} {{.words}} {{.items}}", "{{range .items}}{{.metadata.name}}{{\"\\n\"}}{{end}}", "{{range $i, $e := .items}}{{$i}}={{$e.metadata.name}} {{$.kind}};{{end}}",
	"{{range $e := .words}}{{$e}}{{end}}", "{{range .nested}}{{.}}{{end}}", "{{range $k, $v := .nested}}{{$k}}:{{$v}}{{end}}", "{{range .nothing}}x{{else}}none{{end}}", "{{range .missing}}x{{else}}none{{end}}", "{{range .none}}x{{else}}none{{end}}",
	"{{range 3}}{{.}}{{end}}", "{{range .kind}}x{{end}}", "{{range .n}}x{{end}}", "{{range .words}}{{if eq . \"b\"}}{{continue}}{{end}}{{.}}{{end}}", "{{range .words}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}", "{{break}}",
	"{{if .kind}}k{{end}}{{if .empty}}e{{else}}f{{end}}{{if .nothing}}n{{else if .yes}}y{{end}}", "{{if .missing}}m{{else}}-{{end}}", "{{with .nested.x}}{{.y}}{{end}}", "{{with $x := .n}}{{$x}}{{end}}", "{{with .empty}}x{{else with .kind}}{{.}}{{end}}",
	"{{$x := 1}}{{$x}}{{$x = 2}}{{$x}}", "{{$x := 1}}{{range .words}}{{$x = .}}{{end}}{{$x}}", "{{if true}}{{$x := 1}}{{end}}{{$x}}", "{{$y}}", "{{len .words}} {{len .kind}} {{len .nested}}", "{{len .n}}", "{{len .missing}}", "{{len .none}}", "{{len}}", "{{len .words .words}}",
	"{{index .words 1}} {{index .nested \"x\" \"y\"}} {{index .nested.list 0 1}}", "{{index .words 3}}", "{{index .words 4}}", "{{index .words -1}}", "{{index .words .n}}", "{{index .nested \"q\"}}", "{{index .missing 1}}", "{{index .nested 1}}", "{{index .kind 0}}", "{{index .n 0}}",
	"{{(index .items 0).metadata.name}}", "{{index (index .items 0).metadata.labels \"app\"}}", "{{slice .words 1}} {{slice .words 1 2}} {{slice .kind 1}} {{slice .kind 1 3}}", "{{slice .words 2 1}}", "{{slice .kind 1 2 3}}", "{{slice .n 1}}", "{{slice .words 9}}",
	"{{eq .kind \"List\"}} {{eq .kind \"a\" \"List\"}} {{ne .kind \"x\"}} {{eq .n 3}}", "{{eq .n 3.0}} {{lt .n 4.0}} {{gt 2 1}} {{le \"a\" \"b\"}} {{ge 1 1}}", "{{lt .n 4}}", "{{lt .kind 4}}", "{{eq .missing \"x\"}} {{eq .missing .missing}} {{eq .none .missing}}", "{{eq .kind}}", "{{eq .words .words}}", "{{eq .words 1}}", "{{lt .words 1}}", "{{lt .missing 1}}", "{{lt 1 .missing}}", "{{eq .yes true}}", "{{eq .yes 1}}", "{{ne .words .words}}",
	"{{and .yes .kind}} {{and .yes .empty .kind}} {{or .empty .kind}} {{or .empty .no}} {{not .empty}} {{.kind | and .yes}}", "{{and}}", "{{or .missing}}", "{{not}}",
	"{{print .kind 1 2 \"x\"}} {{println .n}}{{printf \"%s-%v-%q-%5.2f\" .kind .n .kind .half}}", "{{printf \"%d\" .n}}", "{{printf .n}}", "{{.kind | printf \"%s!\"}}", "{{printf \"%v\" .missing}}", "{{print .missing .none}}", "{{\"quoted\" | len}}", "{{`raw`}} {{'a'}} {{1.5}} {{0x10}} {{1e3}} {{true}}",
	"{{html .html}} {{js .html}} {{urlquery .html}} {{html .missing}} {{html .n .n}} {{js \"a\\nb=\"}}", "{{.kind | html | len}}", "{{.kind 1}}", "{{1 2}}", "{{nil}}", "{{print nil}}", "{{eq .none nil}}", "{{.kind | .n}}", "{{nope .kind}}", "{{", "{{end}}", "{{if}}{{end}}", "{{.kind", "{{range .items}}",
	"{{define \"t\"}}[{{.}}{{$}}]{{end}}{{template \"t\" .kind}}{{template \"t\"}}", "{{template \"none\"}}", "{{block \"b\" .n}}{{.}}{{end}}", "{{define \"r\"}}{{template \"r\"}}{{end}}{{template \"r\"}}",
	"{{range .items}}{{range .spec.containers}}{{.name}}={{.image}} {{end}}{{end}}", "{{range .items}}{{if .metadata.labels}}{{.metadata.labels.app}}{{end}}{{end}}", "{{range .items}}{{.metadata.name}}\t{{len .spec.containers}}\n{{end}}", "{{with .nested}}{{$.kind}}{{.x.y}}{{end}}",
	"{{range $i, $c := (index .items 0).spec.containers}}{{if $i}},{{end}}{{$c.name}}{{end}}", "{{- range .words -}} {{.}} {{- end -}}", "{{$l := len .items}}{{printf \"%d\" $l}}", "{{.items.name}}", "{{index}}", "{{printf}}",
}

// TestLikeTextTemplate checks that outputs and errors are those of text/template.
func TestLikeTextTemplate(t *testing.T) {
	t.Parallel()
	for _, text := range templates {
		if want, got := theirs(text), ours(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func data(t string) (value any) {
	if err := json.Unmarshal([]byte(t), &value); err != nil {
		panic(err)
	}
	return value
}

func ours(text string) string {
	var b strings.Builder
	made, err := Parse("output", text)
	if err == nil {
		err = made.Execute(&b, "output", data(list))
	}
	return outcome(&b, err)
}

func theirs(text string) string {
	var b strings.Builder
	made, err := template.New("output").Parse(text)
	if err == nil {
		err = made.Execute(&b, data(list))
	}
	return outcome(&b, err)
}

func outcome(b *strings.Builder, err error) string {
	if err != nil {
		return b.String() + "\nerror: " + err.Error()
	}
	return b.String()
}

// TestOfKubectl checks the functions that kubectl adds.
func TestOfKubectl(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{{exists . "nested" "x"}} {{exists . "nested" "q" "y"}} {{exists .words 1}} {{exists .words 3}}`: "true false true false",
		`{{base64decode "aGVsbG8="}}`: "hello",
		`{{base64decode "?"}}`:        "\nerror: template: output:1:2: executing \"output\" at <base64decode \"?\">: error calling base64decode: base64 decode failed: illegal base64 data at input byte 0",
	} {
		if got := ours(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// FuzzTemplate compares templates that are not in the list.
func FuzzTemplate(f *testing.F) {
	for _, text := range templates {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "call") || strings.Contains(text, "exists") || strings.Contains(text, "base64decode") {
			return // functions of one of the two
		}
		want, got := theirs(text), ours(text)
		if strings.Contains(want, "error: ") != strings.Contains(got, "error: ") || !strings.Contains(want, "error: ") && got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	})
}
