package gotest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/dropin"
)

// ExecCommand is the hidden kubesim command that runs a test binary for go test.
const ExecCommand = "gotest-exec"

// The variables with which kubesim gotest configures gotest-exec.
const (
	recordsVariable = "KUBESIM_GOTEST_RECORDS" // the directory for records
	dateVariable    = "KUBESIM_GOTEST_DATE"    // the virtual time at the start
	repeatVariable  = "KUBESIM_GOTEST_REPEAT"  // the number of seeds
	timeoutVariable = "KUBESIM_GOTEST_TIMEOUT" // -timeout for each seed
)

// failuresVariable names a directory for the failures of oracles in real time. Each test binary replaces it by a file.
const failuresVariable = dropin.FailuresVariable

// recordsDir is the directory for records, relative to that of the run.
const recordsDir = "records"

// record is the result of a test binary.
type record struct {
	Package string // import path
	Dir     string
	Code    int
	Seeds   int           // the number of seeds of --repeat, or 0
	Virtual time.Duration // 0 if the process did not exit normally
	Real    time.Duration
	CPU     time.Duration // of the process and the programs that it waited for
	Notes   []string      // actions of the process that virtual time does not support
	Report  string        // the output of an interrupted run with many seeds: an interrupted go test may not print it

	interrupted bool // by a signal to this process
}

func (r record) String() string {
	virtual := "an unknown virtual time, because it did not end by itself,"
	if r.Virtual > 0 {
		virtual = r.Virtual.Round(time.Millisecond).String() + " of virtual time"
	}
	if r.Seeds > 0 {
		virtual = fmt.Sprintf("%d seeds, %s", r.Seeds, virtual)
	}
	return fmt.Sprintf("%s: %s in %v, with %v of CPU", r.Package, virtual, r.Real.Round(10*time.Millisecond), r.CPU.Round(10*time.Millisecond))
}

// executor returns the value of go test's flag -exec.
func (r *run) executor() string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return strconv.Quote(self) + " " + ExecCommand
}

// Exec runs a test binary in the environment that kubesim gotest has set up. It returns the exit code of the binary, or an error if
// the binary could not be run or its result could not be recorded.
func Exec(args []string) (code int, err error) {
	if len(args) == 0 || os.Getenv(recordsVariable) == "" {
		return 0, errors.New("this command is for kubesim gotest")
	}
	interruptWithParent()
	f := newForwarder()
	defer f.close()
	start := time.Now()
	if date := os.Getenv(dateVariable); date != "" {
		if start, err = time.Parse(time.RFC3339, date); err != nil {
			return 0, err
		}
	} else if os.Getenv("KUBESIM_GOTEST_SEED") != "" {
		start = start.UTC().Truncate(24 * time.Hour)
	}
	if os.Getenv(repeatVariable) != "" {
		return repeat(f, args, start)
	}
	plan, err := swarm(0)
	if err != nil {
		return 0, err
	}
	rec, err := f.runBinary(args, start, os.Getenv("KUBESIM_GOTEST_SEED"), faultsEnvironment(plan), os.Stdout, os.Stderr)
	if err != nil {
		return 0, err
	}
	return rec.Code, rec.write(os.Getenv(recordsVariable))
}

// runBinary runs a test binary once, with additional environment variables. It returns an error if the binary cannot be run; a
// failed test is only an exit code in the record.
func (f *forwarder) runBinary(args []string, start time.Time, seed string, env []string, stdout, stderr io.Writer) (rec record, err error) {
	report, err := os.CreateTemp(os.Getenv(recordsVariable), "report-")
	if err != nil {
		return rec, err
	}
	report.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(append(os.Environ(), env...), "KUBESIM_GOTEST_TIME="+strconv.FormatInt(start.UnixNano(), 10), "KUBESIM_GOTEST_REPORT="+report.Name())
	if seed != "" {
		temp, err := seedDir(args[0])
		if err != nil {
			return rec, err
		}
		defer os.RemoveAll(temp)
		cmd = seeded(cmd, seed, temp)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	began := time.Now()
	interrupted, err := f.run(cmd, limit(args))
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return rec, err
	}
	rec = record{Code: cmd.ProcessState.ExitCode(), Real: time.Since(began), interrupted: interrupted}
	rec.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if rec.Dir, err = os.Getwd(); err != nil {
		return rec, err
	}
	return rec, rec.read(report.Name(), start)
}

// seedDir creates a directory for a seeded run, with a link to the test binary. Its path always has the same length, because
// the sizes of arguments and variables affect the addresses of the program's first objects, and therefore the order of maps
// with pointer keys.
func seedDir(binary string) (string, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return "", err
	}
	for n := os.Getpid(); ; n++ {
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("kubesim-seed-%08d", n%1e8))
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return dir, errors.Join(err, os.Symlink(binary, filepath.Join(dir, "test")), os.Mkdir(filepath.Join(dir, "tmp"), 0o700),
			os.Mkdir(filepath.Join(dir, "cache"), 0o700))
	}
}

// seeded returns the command for a seeded run of a test binary in the environment of cmd. dir is the directory of the run.
func seeded(cmd *exec.Cmd, seed, dir string) *exec.Cmd {
	args := slices.DeleteFunc(slices.Clone(cmd.Args[1:]), func(a string) bool { return strings.HasPrefix(a, "-test.testlogfile=") })
	again := exec.Command(filepath.Join(dir, "test"), args...)
	report := filepath.Join(dir, "report")
	for _, e := range cmd.Environ() {
		name, value, _ := strings.Cut(e, "=")
		switch name {
		case faultsVariable: // a file whose path has a fixed length
			if strings.HasPrefix(value, "on ") && os.WriteFile(filepath.Join(dir, "faults"), []byte(value), 0o600) == nil {
				e = name + "=" + filepath.Join(dir, "faults")
			}
		case "KUBESIM_GOTEST_REPORT": // replaced by a link whose path has a fixed length
			_ = os.Symlink(value, report) // without it, the virtual time is unknown
			e = name + "=" + report
		case recordsVariable, timeoutVariable, "GOCACHEPROG", "GODEBUG", "_":
			continue
		}
		again.Env = append(again.Env, e)
	}
	again.Env = append(again.Env, "KUBESIM_GOTEST_SEED="+seed,
		"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=4GiB", // one goroutine at a time; garbage is collected when none can run
		// A concurrent collection on one processor would use a share of its time, while virtual time stands still.
		"GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+",asyncpreemptoff=1,gcstoptheworld=1", ","),
		"TMPDIR="+filepath.Join(dir, "tmp"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache")) // envtest stores used ports in the cache
	if os.Getenv("KUBESIM_SEED") == "" {
		again.Env = append(again.Env, "KUBESIM_SEED="+seed)
	}
	return again
}

// limit returns the real time after which go test would kill a test binary with these arguments: a minute after -test.timeout.
// Without that flag, it returns 0.
func limit(args []string) time.Duration {
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, "-test.timeout="); ok {
			if d, err := time.ParseDuration(value); err == nil && d > 0 {
				return d + time.Minute
			}
		}
	}
	return 0
}

// read parses the report of a test binary: the time when its bubble ended, and notes. It then removes the file.
func (r *record) read(path string, start time.Time) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if text, ok := strings.CutPrefix(line, "ended at "); ok {
			end, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				return err
			}
			r.Virtual = end.Sub(start)
		} else if !slices.Contains(r.Notes, line) {
			r.Notes = append(r.Notes, line)
		}
	}
	return os.Remove(path)
}

// write writes the record to a new file in dir.
func (r *record) write(dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "record-*.json")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// records reads the records of the packages in list, sorted by package.
func (r *run) records(list []aPackage) (all []record, err error) {
	files, err := filepath.Glob(filepath.Join(r.dir, recordsDir, "record-*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var rec record
		if err := json.Unmarshal(text, &rec); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(list, func(p aPackage) bool { return p.Dir == rec.Dir }); i >= 0 {
			rec.Package = list[i].ImportPath
			all = append(all, rec)
		}
	}
	slices.SortFunc(all, func(a, b record) int { return strings.Compare(a.Package, b.Package) })
	return all, nil
}
