package kubectl

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// align puts cells into columns that are as wide as their widest cell and a gap; the last one is as it is. A column has at
// least a width of 6 where the gap is 3, as kubectl's tables do.
func align(rows [][]string, gap int) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell)+gap, 2*gap*(gap/3))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i+1 < len(row) {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
			}
		}
		lines[n] = b.String()
	}
	return lines
}

// lines prints rows in columns.
func (s *Session) table(rows [][]string) {
	for _, line := range align(rows, 3) {
		s.printf("%s\n", line)
	}
}

// JSON prints an object as kubectl does: indented by four, keys in order.
func indented(compact []byte) string {
	text := string(codec.Body(compact, codec.Format{Media: codec.JSON, Pretty: true}))
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		rest := strings.TrimLeft(line, " ")
		b.WriteString(strings.Repeat(" ", 2*(len(line)-len(rest))))
		b.WriteString(rest)
	}
	return b.String()
}

// yaml prints an object as YAML, with keys in order.
func yaml(compact []byte) string {
	return strings.TrimRight(string(codec.Body(compact, codec.Format{Media: codec.YAML})), "\n") + "\n"
}

// formats are those of --output, in the order in which an error lists them.
const formats = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml"

// printer prints an object in the format that --output asks for; nil: the command says it in its own words.
type printer func(t *target) error

// printer returns that of --output.
func (c *call) printer() (printer, error) {
	format, argument, _ := strings.Cut(c.text("output"), "=")
	if argument == "" {
		argument = c.text("template")
	}
	switch format {
	case "", "wide":
		return nil, nil
	case "json":
		return func(t *target) error { c.printf("%s", indented(c.bytesOf(t))); return nil }, nil
	case "yaml":
		first := true
		return func(t *target) error {
			if !first {
				c.printf("---\n")
			}
			first = false
			c.printf("%s", yaml(c.bytesOf(t)))
			return nil
		}, nil
	case "name":
		return func(t *target) error { c.printf("%s\n", t.refer()); return nil }, nil
	case "jsonpath", "jsonpath-as-json", "jsonpath-file", "custom-columns", "custom-columns-file":
		return c.morePrinter(format, argument)
	case "go-template", "go-template-file", "template", "templatefile", "kyaml":
		return nil, fmt.Errorf("-o %s is not simulated: try -o jsonpath", format)
	}
	return nil, fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: %s", format, formats)
}

// bytesOf returns the JSON of a target's object. One that a command made itself, of a kind that everybody knows, has its
// fields in the order of the kind; others in the order of their names.
func (c *call) bytesOf(t *target) []byte {
	obj := t.obj
	if !c.on("show-managed-fields") && obj.At("metadata")["managedFields"] != nil {
		obj = obj.Copy()
		obj.Remove("metadata", "managedFields")
	}
	if typ := typeOf(obj); typ != nil && t.source == generated {
		return codec.Append(nil, obj, typ)
	}
	return object.JSON(map[string]any(obj))
}

// generated is the source of objects that a command has made.
const generated = "\x00"

// typeOf returns the type of a built-in kind, nil for others.
func typeOf(obj object.Object) *schema.Type {
	set, err := schema.Load(schema.Default)
	if err != nil {
		return nil
	}
	return set.Kind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
}

// said prints that something was done to an object, or the object in the format of --output.
func (c *call) said(t *target, done string) error {
	p, err := c.printer()
	if err != nil {
		return err
	}
	if p != nil {
		return p(t)
	}
	c.printf("%s %s%s\n", t.refer(), done, c.dryRunSuffix())
	return nil
}

// dryRunSuffix is what is said of something that was not done.
func (c *call) dryRunSuffix() string {
	switch c.dryRun() {
	case dryClient:
		return " (dry run)"
	case dryServer:
		return " (server dry run)"
	}
	return ""
}

// dryRun says who only tries: nobody, the client, the server.
type dryRun int

const (
	dryNone dryRun = iota
	dryClient
	dryServer
)

func (c *call) dryRun() dryRun {
	switch c.text("dry-run") {
	case "client", unchanged:
		return dryClient
	case "server":
		return dryServer
	}
	return dryNone
}

// checkDryRun refuses values that --dry-run does not have.
func (c *call) checkDryRun() error {
	if !c.given("dry-run") {
		return nil
	}
	v := c.text("dry-run")
	if v == unchanged {
		c.complain("W%s helpers.go:719] --dry-run is deprecated and can be replaced with --dry-run=client.", c.Conn.Now().UTC().Format("0102 15:04:05.000000   12345"))
		return nil
	}
	if !slices.Contains([]string{"none", "server", "client"}, v) {
		return fmt.Errorf("Invalid dry-run value (%s). Must be \"none\", \"server\", or \"client\".", v)
	}
	return nil
}

// pairs prints labels and the like, "<none>" for none: a=1,b=2.
func pairs(m map[string]string, sign, between string) string {
	if len(m) == 0 {
		return "<none>"
	}
	var out []string
	for _, k := range object.SortedKeys(m) {
		out = append(out, k+sign+m[k])
	}
	return strings.Join(out, between)
}
