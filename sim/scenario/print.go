package scenario

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/actor"
)

// printAnswer adds a response to the transcript: one line, and with -o the body.
func (w *World) printAnswer(c *call) {
	x := c.exchange
	w.say("%s %s → %s", x.Client, cmp.Or(c.phrase, x.Method+" "+shortPath(x.Path)), headline(c))
	for _, text := range x.ResHeader["Warning"] {
		w.say("  warning: %s", warning(text))
	}
	if x.Lost > 0 {
		w.say("  the connection broke: %d bytes of the answer did not arrive", x.Lost)
	}
	if c.answer.Watch != nil || c.output == "" {
		return
	}
	for _, line := range w.body(c) {
		w.say("  %s", line)
	}
}

// headline describes a response in one line.
func headline(c *call) string {
	x := c.exchange
	text := strconv.Itoa(x.Code) + " " + statusText[x.Code]
	body := c.body
	switch {
	case c.answer.Watch != nil:
		return text + ", watch " + x.Watch
	case body == nil && len(x.ResBody) == 0:
		return text
	case body == nil:
		return fmt.Sprintf("%s, %d bytes of %s", text, len(x.ResBody), strings.Join(x.ResHeader["Content-Type"], ""))
	case body.Kind() == "Status" && x.Code >= 400:
		if x.Reason != "" {
			text = strconv.Itoa(x.Code) + " " + x.Reason
		}
		text += ": " + cut(body.String("message"))
		if body.String("metadata", "continue") != "" {
			text += " (with a token to go on with)"
		}
		return text
	case body.Kind() == "Status":
		return text
	case body["items"] != nil && strings.HasSuffix(body.Kind(), "List"):
		return text + ", " + itemsLine(body.List("items"), body)
	case body.Kind() == "Table":
		return text + ", " + itemsLine(body.List("rows"), body)
	case body.Name() == "":
		return strings.TrimRight(text+" "+body.Kind(), " ")
	}
	return text + " " + objectLine(c, body)
}

// cut truncates a message that is too long for one line.
func cut(text string) string {
	const most = 180
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// objectLine describes an object in one line: configmaps/a rv 4005, deleting.
func objectLine(c *call, obj object.Object) string {
	name := strings.ToLower(obj.Kind()) + "/" + obj.Name()
	if c.def != nil {
		name = actor.ShortRef(actor.Ref(c.def, obj.Namespace(), obj.Name()))
	}
	if rv := obj.ResourceVersion(); rv != "" {
		name += " rv " + rv
	}
	return name + actor.Terminating(obj)
}

// itemsLine describes a page of a list: 2 items: a b; rv 4009; 3 more to come.
func itemsLine(items []any, list object.Object) string {
	text := fmt.Sprintf("%d items", len(items))
	if len(items) == 1 {
		text = "1 item"
	}
	var names []string
	for _, obj := range object.ObjectsOf(items) {
		if inner := obj.Map("object"); obj.Map("metadata") == nil && inner != nil {
			obj = inner
		}
		names = append(names, obj.Name())
	}
	const most = 12
	if len(names) > most {
		names = append(names[:most], "…")
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, " ")
	}
	text += "; rv " + list.ResourceVersion()
	if list.String("metadata", "continue") == "" {
		return text
	}
	if left, ok := list.Int("metadata", "remainingItemCount"); ok {
		return text + fmt.Sprintf("; %d more to come", left)
	}
	return text + "; more to come"
}

// body returns the lines of the body of a response, without managedFields.
func (w *World) body(c *call) []string {
	switch c.output {
	case "name":
		return bodyNames(c)
	case "protobuf":
		return []string{fmt.Sprintf("%d bytes of protobuf", len(c.exchange.ResBody))}
	case "table":
		if c.body.Kind() == "Table" {
			return tableLines(c.body)
		}
	}
	if c.body == nil {
		return strings.Split(strings.TrimRight(string(c.exchange.ResBody), "\n"), "\n")
	}
	obj := c.body.Copy()
	obj.Remove("metadata", "managedFields")
	for _, item := range obj.Objects("items") {
		item.Remove("metadata", "managedFields")
	}
	f := codec.Format{Media: codec.JSON, Pretty: true}
	if c.output == "yaml" {
		f = codec.Format{Media: codec.YAML}
	}
	return strings.Split(strings.TrimRight(string(codec.Body(object.JSON(map[string]any(obj)), f)), "\n"), "\n")
}

func bodyNames(c *call) []string {
	var out []string
	for _, item := range c.body.Objects("items") {
		out = append(out, item.Name())
	}
	if c.body["items"] == nil && c.body.Name() != "" {
		out = append(out, c.body.Name())
	}
	return out
}

// tableLines formats a Table as kubectl does, with the columns of priority 0.
func tableLines(table object.Object) []string {
	var o printer.PrintOptions
	columns := o.Columns(table)
	rows := [][]string{o.Header(table, columns, nil)}
	for _, row := range table.Objects("rows") {
		rows = append(rows, o.Row(row, columns, nil))
	}
	return printer.Align(rows, 3)
}

// shortPath returns the path and the query as the transcript shows them: decoded, with continue tokens abbreviated.
func shortPath(path string) string {
	before, query, ok := strings.Cut(path, "?")
	if !ok {
		return path
	}
	parts := strings.Split(query, "&")
	for i, p := range parts {
		text, err := url.QueryUnescape(p)
		if err != nil {
			text = p
		}
		if name, _, _ := strings.Cut(text, "="); name == "continue" {
			text = "continue=…"
		}
		parts[i] = text
	}
	return before + "?" + strings.Join(parts, "&")
}

// warning returns the text of a Warning header, 299 - "text".
func warning(header string) string {
	text := strings.TrimPrefix(header, "299 - ")
	if s, err := strconv.Unquote(text); err == nil {
		return s
	}
	return text
}

// statusText holds the reason phrases of the status codes that an API server uses (RFC 9110).
var statusText = map[int]string{
	200: "OK", 201: "Created", 202: "Accepted", 301: "Moved Permanently", 400: "Bad Request", 401: "Unauthorized",
	403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 409: "Conflict", 410: "Gone",
	413: "Request Entity Too Large", 415: "Unsupported Media Type", 422: "Unprocessable Entity", 429: "Too Many Requests",
	500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable", 504: "Gateway Timeout",
}
