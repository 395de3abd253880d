package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/fake/kubectl"
)

// imports are the flags that import objects of real clusters.
type imports struct {
	paths      []string
	from       string // a kubeconfig
	resources  []string
	secrets    bool
	nodes      bool // kubelets of the imported nodes are simulated
	clockGiven bool // the clock flag is set

	dump *dump.Dump // nil if nothing is imported
}

// flags adds the flags to a set.
func (i *imports) flags(set *flag.FlagSet) {
	repeatedFlag(set, "import", &i.paths)
	set.StringVar(&i.from, "import-from", "", "")
	listFlag(set, "resources", &i.resources)
	set.BoolVar(&i.secrets, "with-secrets", false, "")
	set.BoolVar(&i.nodes, "nodes-from-import", false, "")
}

// given reports whether anything is imported.
func (i *imports) given() bool { return len(i.paths) > 0 || i.from != "" }

// check returns a message if the flags contradict each other, or "".
func (i *imports) check(o *fake.Options) string {
	switch {
	case i.from == "" && (i.resources != nil || i.secrets):
		return "--resources and --with-secrets need --import-from KUBECONFIG"
	case i.nodes && !i.given():
		return "--nodes-from-import needs --import or --import-from"
	case i.nodes && o.Nodes > 0:
		return "use --nodes or --nodes-from-import, not both"
	case i.given() && o.Archive != "":
		if _, err := os.Stat(o.Archive); err == nil {
			return "--import: the cluster in --archive " + o.Archive + " exists already: remove --import, or use another file"
		}
	}
	return ""
}

// read reads all objects to import.
func (i *imports) read() (err error) {
	if !i.given() {
		return nil
	}
	if i.dump, err = dump.Read(i.paths...); err != nil {
		return fmt.Errorf("--import: %w", err)
	}
	if i.from == "" {
		return nil
	}
	target, err := kubectl.Load([]string{"--kubeconfig=" + i.from}, func(string) string { return "" })
	if err == nil {
		err = target.Export(context.Background(), kubectl.Exported{Resources: i.resources, Secrets: i.secrets}, i.dump)
	}
	if err != nil {
		return fmt.Errorf("--import-from: %w", err)
	}
	return nil
}

// clock returns the clock that the value of the flag selects. Unless the flag is given, the real time continues from the newest
// imported time.
func (i *imports) clock(value string) clock.Clock {
	newest := time.Time{}
	if i.dump != nil {
		newest = i.dump.Newest()
	}
	switch {
	case value == "manual" && newest.IsZero():
		return nil // the default
	case value == "manual":
		return clock.NewManual(newest)
	case i.clockGiven || newest.IsZero():
		return clock.System{}
	}
	k := clock.NewSkewed(clock.System{})
	k.Jump(newest.Sub(k.Now()))
	return k
}

// into imports the objects, and prints the result.
func (i *imports) into(srv *fake.Server, out io.Writer) error {
	if i.dump == nil {
		return nil
	}
	done, err := srv.ImportDump(i.dump)
	if err != nil {
		return fmt.Errorf("--import: %w", err)
	}
	i.dump = nil // its memory is no longer needed
	_, err = io.WriteString(out, done.String())
	return err
}
