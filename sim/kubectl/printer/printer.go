// Package printer prints objects and tables as kubectl does.
//
//	--output ─ PrintFlags.Printer ─▶ Printer ─▶ JSON, YAML, KYAML, name, JSONPath, custom columns or a template of Go
//	Table of the server ─ PrintOptions ─▶ header and rows ─ Table ─▶ aligned columns
package printer

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
)

// JSON returns an object as indented JSON with sorted keys, in kubectl's format.
func JSON(compact []byte, indent int) string {
	text := string(codec.Body(compact, codec.Format{Media: codec.JSON, Pretty: true})) // indented by two
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		rest := strings.TrimLeft(line, " ")
		b.WriteString(strings.Repeat(" ", (len(line)-len(rest))*indent/2))
		b.WriteString(rest)
	}
	return b.String()
}

// YAML returns an object as YAML with sorted keys.
func YAML(compact []byte) string {
	return strings.TrimRight(string(codec.Body(compact, codec.Format{Media: codec.YAML})), "\n") + "\n"
}

// formats and tableFormats list the values of --output. Only kubectl get has the latter.
const (
	formats      = "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml"
	tableFormats = "custom-columns,custom-columns-file,wide,"
)

// PrintFlags holds the flags that control the output of objects.
type PrintFlags struct {
	Output, Template  string
	NoHeaders         bool
	ShowManagedFields bool
	Tables            bool // the formats of tables are allowed
	Files             interface {
		ReadFile(name string) ([]byte, error)
	}
}

// Printer prints an Info's object.
type Printer func(w io.Writer, info *client.Info) error

// Printer returns the printer of --output, or nil if the output is in the command's own format. It returns an error if the format
// is unknown, not simulated, or has an invalid argument.
func (f *PrintFlags) Printer() (Printer, error) {
	format, argument, _ := strings.Cut(f.Output, "=")
	if argument == "" {
		argument = f.Template
	}
	if format == "" && argument != "" {
		format = "go-template"
	}
	if format != "" && !f.Tables && strings.Contains(tableFormats, format+",") {
		return nil, f.unknown()
	}
	switch format {
	case "", "wide":
		return nil, nil
	case "json":
		return func(w io.Writer, info *client.Info) error {
			_, err := io.WriteString(w, JSON(f.bytes(info), 4))
			return err
		}, nil
	case "yaml":
		before := ""
		return func(w io.Writer, info *client.Info) error {
			_, err := io.WriteString(w, before+YAML(f.bytes(info)))
			before = "---\n"
			return err
		}, nil
	case "kyaml":
		return func(w io.Writer, info *client.Info) error {
			_, err := io.WriteString(w, KYAML(f.bytes(info)))
			return err
		}, nil
	case "name":
		return func(w io.Writer, info *client.Info) error {
			_, err := fmt.Fprintln(w, info.Refer())
			return err
		}, nil
	case "jsonpath", "jsonpath-as-json", "jsonpath-file":
		return f.pathPrinter(format, argument)
	case "custom-columns", "custom-columns-file":
		return f.columnPrinter(format, argument)
	case "go-template", "go-template-file", "template", "templatefile":
		return f.goPrinter(format, argument)
	}
	return nil, f.unknown()
}

// unknown returns the error for a value of --output that the command does not have.
func (f *PrintFlags) unknown() error {
	allowed := formats
	if f.Tables {
		all := strings.Split(tableFormats+formats, ",")
		slices.Sort(all)
		allowed = strings.Join(all, ",")
	}
	return fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: %s", f.Output, allowed)
}

// Visible returns an object without its managed fields, unless ShowManagedFields is set.
func (f *PrintFlags) Visible(obj object.Object) object.Object {
	if f.ShowManagedFields || obj.At("metadata")["managedFields"] == nil {
		return obj
	}
	obj = obj.Copy()
	obj.Remove("metadata", "managedFields")
	return obj
}

// bytes returns the JSON of an object. The fields of a generated object of a built-in kind are in the order of its Go type; all
// others are sorted by name.
func (f *PrintFlags) bytes(info *client.Info) []byte {
	obj := f.Visible(info.Object)
	if typ := client.TypeOf(obj); typ != nil && info.Generated {
		return codec.Append(nil, obj, typ)
	}
	return object.JSON(map[string]any(obj))
}

// Pairs formats a map such as labels, sorted by key: a=1,b=2, or <none> if it is empty.
func Pairs(m map[string]string, sign, between string) string {
	if len(m) == 0 {
		return "<none>"
	}
	var out []string
	for _, k := range object.SortedKeys(m) {
		out = append(out, k+sign+m[k])
	}
	return strings.Join(out, between)
}

// LastSeen returns the time at which an event was last seen.
func LastSeen(e object.Object) time.Time {
	return Time(cmp.Or(e.String("series", "lastObservedTime"), e.String("lastTimestamp"), e.String("eventTime")))
}

// Time parses a time. It returns the zero time if text is empty or no time.
func Time(text string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text) // the zero time if it is invalid
	return t
}

// Since returns the age of an event. For a repeated event it includes the count and the age of the first occurrence.
func Since(now time.Time, e object.Object) string {
	first := cmp.Or(e.String("firstTimestamp"), e.String("eventTime"))
	text := Age(now, cmp.Or(e.String("lastTimestamp"), first))
	n := e.Int64("count")
	if last := e.String("series", "lastObservedTime"); last != "" {
		n, text = e.Int64("series", "count"), Age(now, last)
	}
	if n > 1 {
		return fmt.Sprintf("%s (x%d over %s)", text, n, Age(now, first))
	}
	return text
}

// Age returns the time since an RFC 3339 timestamp in the short form of kubectl's tables, such as 5m or 3d, or "<unknown>" if text
// is not a timestamp.
func Age(now time.Time, text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "<unknown>"
	}
	return codec.HumanDuration(now.Sub(t))
}
