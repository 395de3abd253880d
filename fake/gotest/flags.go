package gotest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/spelling"
)

// Options are the arguments of kubesim gotest.
type Options struct {
	Date   time.Time     // the virtual time at the start. If zero, it is the current time
	Seed   uint64        // if not 0, runs with the same seed are identical
	Repeat int           // if not 0, the number of seeds with which each package runs, starting with Seed
	Hang   time.Duration // the real time without progress after which a package fails
	Real   bool          // run in real time, with kubesim's programs
	Source string        // the directory of kubesim's module. If empty, it is determined automatically
	// Cluster lists the files with the objects of a server that runs in the test process, for tests that expect a cluster. If nil,
	// there is no such server.
	Cluster []string
	Keep    string // the directory for temporary files, which is kept. If empty, a temporary one is used

	Args     []string // the arguments of go test: flags, packages, and arguments of the test binary
	Packages []string // the packages among them
	tags     string   // the build tags among them
	timeout  string   // the value of -timeout among them
	chdir    string   // the value of -C among them
}

// Parse parses a command line. It passes unknown flags to go test or the test binary. It returns an error if a flag lacks its
// value or is misspelt, or if a flag or value is not supported.
func Parse(args []string) (*Options, error) {
	o := &Options{Hang: time.Minute}
	packages := true
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			if packages {
				o.Packages = append(o.Packages, arg)
			}
			o.Args = append(o.Args, arg)
			continue
		}
		packages = packages && len(o.Packages) == 0 // as in go test, which takes only adjacent arguments as packages
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if name == "args" {
			o.Args = append(o.Args, args[i:]...)
			break
		}
		own := slices.Contains(ownFlags, name)
		needs := own && name != "real" || slices.Contains(valueFlags, strings.TrimPrefix(name, "test."))
		if needs && !given {
			if i++; i == len(args) {
				return nil, fmt.Errorf("the flag --%s needs a value", name)
			}
			value = args[i]
		}
		if own {
			if err := o.set(name, value); err != nil {
				return nil, fmt.Errorf("--%s: %w", name, err)
			}
			continue
		}
		if !needs {
			if err := misspelt(name); err != nil {
				return nil, err
			}
		}
		keep, err := o.pass(name, value)
		if err != nil {
			return nil, err
		}
		switch {
		case keep && needs && !given:
			o.Args = append(o.Args, arg, value)
		case keep:
			o.Args = append(o.Args, arg)
		}
		if !needs && !slices.Contains(boolFlags, strings.TrimPrefix(name, "test.")) {
			packages = false // as in go test, because the next argument may be the value of the unknown flag
		}
	}
	if o.Cluster != nil && o.Real {
		return nil, errors.New("--cluster and --real cannot both be given: kubesim serve --kubeconfig FILE starts a cluster in real time")
	}
	if o.Repeat > 0 && o.Seed == 0 {
		o.Seed = 1
	}
	if len(o.Packages) == 0 {
		o.Packages = []string{"."}
	}
	return o, nil
}

// misspelt returns an error if neither kubesim gotest nor go test has a flag, but one of them has a flag with a similar name. Other unknown
// flags may be flags that the tests define.
func misspelt(name string) error {
	known := slices.Concat(ownFlags, valueFlags, boolFlags)
	if slices.Contains(known, strings.TrimPrefix(name, "test.")) {
		return nil
	}
	for _, k := range known {
		if len(k) > 3 && spelling.Distance(name, k) <= max(1, len(k)/3) {
			return fmt.Errorf("neither kubesim gotest nor go test has the flag -%s; did you mean -%s? If the tests define -%s, write it after -args", name, k, name)
		}
	}
	return nil
}

// ownFlags lists the flags of kubesim gotest.
var ownFlags = []string{"date", "seed", "repeat", "hang", "real", "kubesim", "keep", "cluster"}

func (o *Options) set(name, value string) (err error) {
	switch name {
	case "date":
		for _, layout := range []string{time.DateOnly, time.RFC3339} {
			if o.Date, err = time.Parse(layout, value); err == nil {
				return nil
			}
		}
		return fmt.Errorf("%q is not a date such as 2030-01-31 or 2030-01-31T12:00:00Z", value)
	case "seed":
		if o.Seed, err = strconv.ParseUint(value, 10, 63); err != nil || o.Seed == 0 {
			return fmt.Errorf("%q is not a number above 0", value)
		}
	case "repeat":
		if o.Repeat, err = strconv.Atoi(value); err != nil || o.Repeat <= 0 {
			return fmt.Errorf("%q is not a number above 0", value)
		}
	case "hang":
		if o.Hang, err = time.ParseDuration(value); err != nil || o.Hang < time.Second {
			return fmt.Errorf("%q is not a duration of at least 1s", value)
		}
	case "real":
		o.Real = true
	case "kubesim":
		o.Source = value
	case "keep":
		o.Keep = value
	case "cluster":
		o.Cluster = []string{}
		for file := range strings.SplitSeq(value, ",") {
			if file == "empty" {
				continue
			}
			if file, err = filepath.Abs(file); err != nil {
				return err
			}
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("%w; to start without objects, use --cluster empty", err)
			}
			o.Cluster = append(o.Cluster, file)
		}
	}
	return nil
}

// pass checks a flag of go test. keep reports whether the flag is passed to go test. The error says which flags kubesim gotest sets
// itself or does not support.
func (o *Options) pass(name, value string) (keep bool, err error) {
	switch name {
	case "overlay", "modfile", "exec":
		return false, fmt.Errorf("-%s cannot be given: kubesim gotest sets it", name)
	case "c", "o":
		return false, fmt.Errorf("-%s cannot be given: kubesim gotest runs the tests", name)
	case "race":
		if !o.Real {
			return false, errors.New("-race needs cgo, which cannot run in virtual time: add --real before it")
		}
	case "mod":
		return false, nil // -modfile needs -mod=mod
	case "tags":
		o.tags = value
		return false, nil
	case "timeout", "test.timeout":
		o.timeout = value
		return false, nil
	case "C":
		o.chdir = value
		return false, nil
	}
	return true, nil
}

// timeouts returns the flag -timeout of go test, and the variable with the limit of each run. go test would end a process that
// runs with many seeds in real time.
func (o *Options) timeouts() (args, env []string) {
	switch {
	case o.Repeat != 0 && !o.Real:
		return []string{"-timeout=0"}, []string{timeoutVariable + "=" + cmp.Or(o.timeout, "10m")}
	case o.timeout != "":
		return []string{"-timeout=" + o.timeout}, nil
	}
	return nil, nil
}

// valueFlags lists the flags of go test that take a value. With the prefix "test." they have the same meaning.
var valueFlags = []string{
	"C", "asmflags", "bench", "benchtime", "blockprofile", "blockprofilerate", "buildmode", "buildvcs", "compiler", "count", "covermode",
	"coverpkg", "coverprofile", "cpu", "cpuprofile", "exec", "fuzz", "fuzzminimizetime", "fuzztime", "gccgoflags", "gcflags", "installsuffix",
	"ldflags", "list", "memprofile", "memprofilerate", "mod", "modfile", "mutexprofile", "mutexprofilefraction", "o", "outputdir", "overlay", "p",
	"parallel", "pgo", "pkgdir", "run", "shuffle", "skip", "tags", "timeout", "toolexec", "trace", "vet",
}

// boolFlags lists the other flags of go test.
var boolFlags = []string{
	"a", "artifacts", "asan", "benchmem", "c", "cover", "failfast", "fullpath", "i", "json", "linkshared", "modcacherw", "msan", "n", "race",
	"short", "trimpath", "v", "work", "x",
}
