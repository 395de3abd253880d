package kubectl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/kubectl/shell"
	"github.com/kubesim/kubesim/sim/object"
)

// call is a running kubectl command: its flags, its client, and its streams.
type call struct {
	*flags.Set
	*client.Builder
	*shell.Process
	session *Session
	config  *Config
	edit    func(editor, text string) (string, error)
	verb    *verb
	printer printer.Printer // the printer of --output, which the objects of a command share
	path    string          // the full name of the command, such as "kubectl rollout status"
}

// usage returns an error about invalid arguments (cmdutil.UsageErrorf).
func (c *call) usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), "See '" + c.path + " -h' for help and examples"}
}

// builder returns a Builder that is configured by the flags.
func (c *call) builder(s *Session) *client.Builder {
	server := &client.Client{Conn: s.Conn, Warnings: c.Err, User: c.Text("as"), Groups: c.List("as-group"), Discovery: &s.discovery}
	return &client.Builder{Client: server, Files: c.Process, Namespace: cmp.Or(c.Text("namespace"), s.Config.namespace(c.Text("context"))),
		EnforceNamespace: c.Text("namespace") != "", Filenames: c.List("filename"), Kustomize: c.Text("kustomize"), Recursive: c.On("recursive"),
		LabelSelector: c.Text("selector"), FieldSelector: c.Text("field-selector"), All: c.On("all"),
		Typed: slices.Contains([]string{"set", "rollout", "expose", "taint"}, strings.Fields(c.path)[1])}
}

// helper returns a Helper that is configured by the flags. If --field-manager is not set, manager is the field manager.
func (c *call) helper(manager string) *client.Helper {
	h := &client.Helper{Client: c.Client, FieldManager: cmp.Or(c.Text("field-manager"), manager), ServerDryRun: c.dryRun() == dryServer}
	if c.Lookup("validate", "") != nil {
		h.FieldValidation = "Strict"
		switch c.Text("validate") {
		case "false", "ignore":
			h.FieldValidation = "Ignore"
		case "warn":
			h.FieldValidation = "Warn"
		}
	}
	return h
}

// visit calls do for each object that the arguments or files name. It returns the joined errors.
func (c *call) visit(args []string, s client.Selection, do func(info *client.Info) error) error {
	list, err := c.Infos(args, s)
	if err != nil {
		return err
	}
	found, errs := c.Objects(list)
	return join(errs, each(found, do))
}

// errNoResource is the error for a command that changes objects but names none.
var errNoResource = errors.New("one or more resources must be specified as <resource> <name> or <resource>/<name>")

// join appends the errors that each returned to errs, and returns the joined errors.
func join(errs []error, err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return errors.Join(append(errs, list.Unwrap()...)...)
	}
	return errors.Join(append(errs, err)...)
}

// each calls do for each of the infos. It returns the joined errors.
func each(list []*client.Info, do func(info *client.Info) error) error {
	var errs []error
	for _, info := range list {
		err := info.Err
		if err == nil {
			err = do(info)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// printFlags returns the flags that control the output of objects.
func (c *call) printFlags() *printer.PrintFlags {
	return &printer.PrintFlags{Output: c.Text("output"), Template: c.Text("template"), NoHeaders: c.On("no-headers"),
		ShowManagedFields: c.On("show-managed-fields"), Tables: c.verb.name == "get", Files: c.Process}
}

// printObj prints an object in the format of --output. Without --output it prints a line such as "pod/web created (dry run)".
func (c *call) printObj(info *client.Info, done string) error {
	return c.print(info, done+c.dryRun().suffix())
}

// print prints an object in the format of --output. Without --output it prints a line such as "pod/web created".
func (c *call) print(info *client.Info, done string) error {
	p, err := c.sharedPrinter()
	if err != nil {
		return err
	}
	if p != nil {
		return p(c.Out, info)
	}
	c.Printf("%s %s\n", info.Refer(), done)
	return nil
}

// onePrinterEach lists the verbs that print each object with a new printer, which does not separate YAML documents.
var onePrinterEach = strings.Fields("label taint patch pause resume restart undo")

// sharedPrinter returns the printer of --output for the next object.
func (c *call) sharedPrinter() (p printer.Printer, err error) {
	if c.printer == nil || slices.Contains(onePrinterEach, c.verb.name) {
		c.printer, err = c.printFlags().Printer()
	}
	return c.printer, err
}

// printTable prints a table. It omits the header row if --no-headers is set.
func (c *call) printTable(head []string, rows [][]string) {
	if !c.On("no-headers") {
		rows = slices.Insert(rows, 0, head)
	}
	printer.Table(c.Out, rows)
}

// dryRun is the value of --dry-run.
type dryRun int

const (
	dryNone dryRun = iota
	dryClient
	dryServer
)

// suffix returns the suffix of messages about changes: "", " (dry run)" or " (server dry run)".
func (d dryRun) suffix() string { return [...]string{"", " (dry run)", " (server dry run)"}[d] }

func (c *call) dryRun() dryRun {
	switch c.Text("dry-run") {
	case "client", flags.Unchanged:
		return dryClient
	case "server":
		return dryServer
	}
	return dryNone
}

// validations lists the values of --validate.
var validations = strings.Fields("strict warn ignore true false")

// checkDryRun rejects invalid values of --dry-run and --validate and warns about the deprecated form without a value.
func (c *call) checkDryRun() error {
	if v := c.Text("validate"); v != "" && v != flags.Unchanged && !slices.Contains(validations, v) {
		return fmt.Errorf("invalid - validate option %q; must be one of: strict (or true), warn, ignore (or false)", v)
	}
	v := c.Text("dry-run")
	if v == flags.Unchanged {
		c.Complain("W%s helpers.go:719] --dry-run is deprecated and can be replaced with --dry-run=client.", c.Now().UTC().Format("0102 15:04:05.000000   12345"))
		return nil
	}
	if c.Given("dry-run") && !slices.Contains([]string{"none", "server", "client"}, v) {
		return fmt.Errorf("Invalid dry-run value (%s). Must be \"none\", \"server\", or \"client\".", v)
	}
	return nil
}

// json returns the JSON of an object.
func json(obj object.Object) []byte { return object.JSON(map[string]any(obj)) }
