package gotest

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ line, args, packages string }{
		{"", "", "."},
		{"./...", "./...", "./..."},
		{"-v -run X ./a ./b", "-v -run X ./a ./b", "./a ./b"},
		{"--run=X ./a -count 3", "--run=X ./a -count 3", "./a"},
		{"--seed 7 ./a", "./a", "./a"},
		{"./a --seed=7 --ginkgo.focus x", "./a --ginkgo.focus x", "./a"}, // x may be the value of the flag
		{"-test.run X ./a -args --seed 7 ./b", "-test.run X ./a -args --seed 7 ./b", "./a"},
		{"-tags a,b -mod=vendor ./a", "./a", "./a"},
		{"./a -update --kubeconfig k", "./a -update --kubeconfig k", "./a"}, // flags of the tests
		{"./a -args --sed 7", "./a -args --sed 7", "./a"},
	} {
		is := is.New(t)
		o, err := Parse(strings.Fields(c.line))
		is.NoErr(err)
		is.Equal(strings.Join(o.Args, " "), c.args)         // the arguments of go test
		is.Equal(strings.Join(o.Packages, " "), c.packages) // packages
	}
}

func TestParseOwn(t *testing.T) {
	is := is.New(t)
	o, err := Parse(strings.Fields("--date 2030-01-31 --seed 7 --hang 5m --real -tags e2e"))
	is.NoErr(err)
	is.Equal(o.Date, time.Date(2030, 1, 31, 0, 0, 0, 0, time.UTC))
	is.Equal(o.Seed, uint64(7))
	is.Equal(o.Hang, 5*time.Minute)
	is.True(o.Real)
	is.Equal(o.tags, "e2e")
	o, err = Parse([]string{"--repeat", "100"})
	is.NoErr(err)
	is.Equal(o.Seed, uint64(1)) // the first of the repeated seeds
}

func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		"--seed":         "the flag --seed needs a value",
		"--seed x":       `--seed: "x" is not a number above 0`,
		"--date gestern": `--date: "gestern" is not a date such as 2030-01-31 or 2030-01-31T12:00:00Z`,
		"--hang 1":       `--hang: "1" is not a duration of at least 1s`,
		"-race ./a":      "-race needs cgo, which cannot run in virtual time: add --real before it",
		"-exec x":        "-exec cannot be given: kubesim gotest sets it",
		"--sed 7":        "neither kubesim gotest nor go test has the flag -sed; did you mean -seed? If the tests define -sed, write it after -args",
		"--repeats=9":    "neither kubesim gotest nor go test has the flag -repeats; did you mean -repeat? If the tests define -repeats, write it after -args",
		"./a -coverprofil c": "neither kubesim gotest nor go test has the flag -coverprofil; did you mean -coverprofile? " +
			"If the tests define -coverprofil, write it after -args",
		"-c": "-c cannot be given: kubesim gotest runs the tests",
	} {
		is := is.New(t)
		_, err := Parse(strings.Fields(line))
		is.True(err != nil)
		is.Equal(err.Error(), want)
	}
}

// The arguments of go test are a subsequence of the command line.
func FuzzParse(f *testing.F) {
	f.Add("--seed 7 -v ./a -run X --ginkgo.focus y -args z")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Fields(line)
		o, err := Parse(words)
		if err != nil {
			return
		}
		for _, a := range o.Args {
			for len(words) > 0 && words[0] != a {
				words = words[1:]
			}
			if len(words) == 0 {
				t.Fatalf("%q: %q is not there, or in another order", line, a)
			}
			words = words[1:]
		}
	})
}

// -timeout is the limit of each run with --repeat, not of all. A run gets a minute of real time more, as from go test.
func TestTimeouts(t *testing.T) {
	is := is.New(t)
	o, err := Parse([]string{"-timeout", "2h", "."})
	is.NoErr(err)
	args, env := o.timeouts()
	is.Equal(args, []string{"-timeout=2h"})
	is.Equal(len(env), 0)
	o, err = Parse([]string{"--repeat=100", "-test.timeout=2h", "."})
	is.NoErr(err)
	args, env = o.timeouts()
	is.Equal(args, []string{"-timeout=0"})
	is.Equal(env, []string{timeoutVariable + "=2h"})
	is.Equal(limit([]string{"test", "-test.timeout=2h"}), 121*time.Minute)
	is.Equal(limit([]string{"test", "-test.timeout=0s"}), time.Duration(0))
}
