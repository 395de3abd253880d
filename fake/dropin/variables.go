package dropin

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/manager"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/spelling"
)

// Variables that error messages mention.
const (
	traceVariable  = "KUBESIM_TRACE"
	faultsVariable = "KUBESIM_FAULTS"
)

// variable is an environment variable that configures every API server.
type variable struct {
	name, example string // KUBESIM_SEED=7
	help          string
}

// variables lists the variables in the order of the help text. servers.setVariable applies them.
var variables = []variable{
	{"KUBESIM_SEED", "7", "the seed of uids, generated names and random faults"},
	{"KUBESIM_MINOR", schema.Default, "the minor version of Kubernetes to serve"},
	{"KUBESIM_CONTROLLERS", "all", "the controllers to run: names as for kube-controller-manager, with commas between them (default: none). all does not contain kube-scheduler without KUBESIM_NODES"},
	{"KUBESIM_NODES", "3", "the number of nodes that run pods; they need controllers, by default all"},
	{faultsVariable, "FILE", "faults, one per line: on update pods times=1 do fail Conflict; or the faults themselves instead of FILE"},
	{SwarmVariable, "7", "the seed of a random plan of faults that a correct client tolerates, and without errors; 7:operator draws also errors, but only for clients whose User-Agent begins with operator"},
	{traceVariable, "FILE", "writes each step to FILE as a line of JSON; further servers write to FILE.2, FILE.3 and so on"},
	{"KUBESIM_REPORT", "FILE", "writes a report of all steps when the server ends, to FILE, FILE.2 and so on"},
	{"KUBESIM_PERMISSIONS", "FILE", "writes the roles that the users needed, with missing and unused rules, to FILE, FILE.2 and so on"},
	{"KUBESIM_ORACLES", "owner,leftbehind,lostupdates,rest,hotloop", `fails if a custom object gets two objects that differ only in their names; if objects remain
        that belong to a custom object which has been gone for a minute; if a client overwrites changes that it has not seen;
        if clients still write ten minutes after a test (kubesim gotest only); if they send 3,000 requests a minute.
        owner:RESOURCE fails for any second object, leftbehind:RESOURCE is for owners of one resource`},
	{"KUBESIM_FAIL_ON_WARNING", "true", "fails at each warning in an answer"},
}

// setVariable applies one of the variables. It returns an error if the value is invalid.
func (s *servers) setVariable(name, value string) error {
	switch name {
	case "KUBESIM_SEED":
		return s.setSeed(value)
	case "KUBESIM_MINOR":
		return s.setMinor(value)
	case "KUBESIM_CONTROLLERS":
		return s.setControllers(value)
	case "KUBESIM_NODES":
		return s.setNodes(value)
	case faultsVariable:
		s.faults = value
	case SwarmVariable:
		return s.setSwarm(value)
	case traceVariable:
		s.trace = value
	case "KUBESIM_REPORT":
		s.report = value
	case "KUBESIM_PERMISSIONS":
		s.permissions = value
	case "KUBESIM_ORACLES":
		return s.setOracles(value)
	case "KUBESIM_FAIL_ON_WARNING":
		return s.setFailOnWarning(value)
	default:
		return errors.New("it has no effect")
	}
	return nil
}

// VariablesHelp returns the section of a help text that describes the variables.
func VariablesHelp() string {
	var b strings.Builder
	for _, v := range variables {
		fmt.Fprintf(&b, "  %s=%s\n        %s\n", v.name, v.example, v.help)
	}
	return b.String()
}

// otherVariables lists the variables that are read elsewhere in kubesim.
var otherVariables = []string{"KUBESIM_SEEDS", "KUBESIM_SHARD", "KUBESIM_SHARDS", "KUBESIM_PLAN", "KUBESIM_REPEAT", "KUBESIM_RESULTS", "KUBESIM_SITE",
	"KUBESIM_CHANCE", "KUBESIM_REQUESTS", "KUBESIM_TARGET", "KUBESIM_TOKEN"}

// otherPrefixes lists the prefixes of variables that kubesim's processes set for each other.
var otherPrefixes = []string{"KUBESIM_GOTEST_", "KUBESIM_EXPLORE_", "KUBESIM_TEST_"}

// CheckVariables returns the error of an API server that is started with the environment variables of this process. virtual
// means that the server runs in virtual time.
func CheckVariables(virtual bool) error {
	s := &servers{options: fake.Options{Replicas: make([]fake.ReplicaOptions, 1)}, checks: checks{virtual: virtual}}
	return s.readVariables()
}

// schedulerName is the name of the scheduler among the controllers.
const schedulerName = "kube-scheduler"

// checkNames returns an error if the environment contains an unknown variable whose name begins with KUBESIM_, because it
// may be misspelt.
func checkNames(environ []string) error {
	known := slices.Clone(otherVariables)
	for _, v := range variables {
		known = append(known, v.name)
	}
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "KUBESIM_") || slices.Contains(known, name) ||
			slices.ContainsFunc(otherPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		hint := ""
		if near := spelling.Nearest(name, known); near != "" {
			hint = " (did you mean " + near + "?)"
		}
		return fmt.Errorf("the environment variable %s is not known%s: kubesim envtest --help lists the known ones", name, hint)
	}
	return nil
}

// readVariables checks and applies the variables of the environment. An empty variable is the same as none.
func (s *servers) readVariables() error {
	if err := checkNames(os.Environ()); err != nil {
		return err
	}
	for _, v := range variables {
		value := os.Getenv(v.name)
		if value == "" {
			continue
		}
		if err := s.setVariable(v.name, value); err != nil {
			return fmt.Errorf("%s=%s: %w", v.name, value, err)
		}
	}
	switch {
	case s.options.Nodes > 0 && s.options.NoControllers:
		s.options.NoControllers, s.options.Controllers = false, controller.All
	case s.options.Nodes == 0 && !slices.Contains(s.options.Controllers, schedulerName) && slices.Contains(s.options.Controllers, controller.All[0]):
		// kube-controller-manager has no scheduler, which would write to pods that no node can run.
		s.options.Controllers = append(s.options.Controllers, "-"+schedulerName)
	}
	return nil
}

func (s *servers) setSeed(value string) (err error) {
	if s.options.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
		return errors.New("want a number")
	}
	return nil
}

// setMinor sets the served version, unless a flag of kube-apiserver has already set it.
func (s *servers) setMinor(value string) error {
	if !slices.Contains(schema.Known(), value) {
		return fmt.Errorf("want one of %s", strings.Join(schema.Known(), ", "))
	}
	if s.options.Replicas[0].Version == "" {
		s.options.Replicas[0].Version = value
	}
	return nil
}

func (s *servers) setControllers(value string) error {
	s.options.NoControllers = value == "none"
	s.options.Controllers = nil
	for name := range strings.SplitSeq(value, ",") {
		switch name = strings.TrimSpace(name); name {
		case "all":
			s.options.Controllers = append(s.options.Controllers, controller.All...)
		case "none":
		default:
			s.options.Controllers = append(s.options.Controllers, name)
		}
	}
	_, err := manager.New(s.options.Controllers, manager.Flags{})
	return err
}

func (s *servers) setNodes(value string) (err error) {
	if s.options.Nodes, err = strconv.Atoi(value); err != nil || s.options.Nodes < 0 {
		return errors.New("want a number")
	}
	return nil
}

func (s *servers) setFailOnWarning(value string) (err error) {
	if s.options.FailOnWarning, err = strconv.ParseBool(value); err != nil {
		return errors.New("want true or false")
	}
	return nil
}
