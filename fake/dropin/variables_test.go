package dropin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// The variables have the effects that their help describes.
func TestVariables(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	report, permissions := filepath.Join(dir, "report"), filepath.Join(dir, "permissions")
	for name, value := range map[string]string{"KUBESIM_MINOR": "1.35", "KUBESIM_CONTROLLERS": "all", "KUBESIM_NODES": "2", "KUBESIM_REPORT": report,
		"KUBESIM_PERMISSIONS": permissions, "KUBESIM_FAIL_ON_WARNING": "true", "KUBESIM_SWARM": "7:operator",
		"KUBESIM_ORACLES": "lostupdates,hotloop,owner,owner:secrets,leftbehind,leftbehind:secrets"} {
		t.Setenv(name, value)
	}
	_, start := pair(t)
	p, url := start()
	_, body := get(t, url+"/version")
	is.True(strings.Contains(body, `"minor": "35"`))
	_, body = get(t, url+"/api/v1/nodes")
	is.True(strings.Contains(body, `"node-2"`))
	res, err := do(t, "POST", url+"/api/v1/namespaces/default/configmaps?fieldValidation=Warn", `{"metadata":{"name":"c"},"dada":{}}`)
	is.NoErr(err)
	res.Body.Close()
	is.Equal(res.StatusCode, 201)
	is.Equal(len(res.Header["Warning"]), 1)
	res, err = do(t, "GET", url+"/api/v1/namespaces/default/configmaps", "")
	is.NoErr(err)
	res.Body.Close()
	is.True(strings.Contains(res.Header.Get("Warning"), "kubesim: a warning to Go-http-client/")) // client-go logs it
	failures := EndTest(false)
	is.Equal(len(failures), 1)
	is.True(strings.Contains(failures[0], `unknown field "dada"`))
	is.Equal(len(EndTest(true)), 0)
	p.end("1 failures of oracles")
	is.True(strings.Contains(p.stderr.String(), `unknown field "dada"`)) // the warning counts
	is.True(strings.Contains(p.stderr.String(), "KUBESIM_SWARM drew\non "))
	text, err := os.ReadFile(report)
	is.NoErr(err)
	is.True(strings.Contains(string(text), "create configmaps default/c"))
	is.True(strings.Contains(string(text), " client=operator "))
	text, err = os.ReadFile(permissions)
	is.NoErr(err)
	is.True(strings.Contains(string(text), "kind: ClusterRole"))
	is.True(strings.Contains(string(text), "configmaps"))
}

// A variable that is not known, or has a wrong value, is an error.
func TestWrongVariables(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"KUBESIM_CONTROLERS", "all", "the environment variable KUBESIM_CONTROLERS is not known (did you mean KUBESIM_CONTROLLERS?): kubesim envtest --help lists the known ones"},
		{"KUBESIM_SEED", "x", "KUBESIM_SEED=x: want a number"},
		{"KUBESIM_NODES", "-1", "KUBESIM_NODES=-1: want a number"},
		{"KUBESIM_FAIL_ON_WARNING", "maybe", "KUBESIM_FAIL_ON_WARNING=maybe: want true or false"},
		{"KUBESIM_MINOR", "1.2", "KUBESIM_MINOR=1.2: want one of 1.34, 1.35, 1.36, 1.37"},
		{"KUBESIM_ORACLES", "owners", `KUBESIM_ORACLES=owners: "owners" is not an oracle: there are owner, leftbehind, lostupdates, rest, hotloop, owner:RESOURCE and leftbehind:RESOURCE`},
		{"KUBESIM_ORACLES", "rest", "KUBESIM_ORACLES=rest: rest needs virtual time: use kubesim gotest"},
		{"KUBESIM_SWARM", "x", "KUBESIM_SWARM=x: want a seed, such as 7, or a seed and the beginning of a User-Agent, such as 7:operator"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			t.Setenv(c.name, c.value)
			s, err := read([]string{"--etcd-servers=http://127.0.0.1:1"})
			is.NoErr(err)
			err = s.readVariables()
			is.True(err != nil)
			is.Equal(err.Error(), c.want)
			is.Equal(CheckVariables(false).Error(), c.want)
		})
	}
}

// A controller may be named by its name before Kubernetes 1.28. An unknown one is an error.
func TestControllerNames(t *testing.T) {
	is := is.New(t)
	t.Setenv("KUBESIM_CONTROLLERS", "namespace,garbagecollector,job-controller")
	is.NoErr(CheckVariables(false))
	t.Setenv("KUBESIM_CONTROLLERS", "namespaces")
	is.True(strings.HasPrefix(CheckVariables(false).Error(), `KUBESIM_CONTROLLERS=namespaces: there is no controller "namespaces": there are *, `))
	t.Setenv("KUBESIM_CONTROLLERS", "")
	t.Setenv("KUBESIM_ORACLES", "rest")
	is.NoErr(CheckVariables(true))
}

// The scheduler needs nodes, or its name.
func TestScheduler(t *testing.T) {
	for _, c := range []struct {
		controllers, nodes string
		want               []string
	}{
		{"all", "", []string{"*", "-kube-scheduler"}},
		{"all,kube-scheduler", "", []string{"*", "kube-scheduler"}},
		{"all", "2", []string{"*"}},
		{"", "2", []string{"*"}},
		{"job", "", []string{"job"}},
	} {
		t.Run(c.controllers+c.nodes, func(t *testing.T) {
			is := is.New(t)
			t.Setenv("KUBESIM_CONTROLLERS", c.controllers)
			t.Setenv("KUBESIM_NODES", c.nodes)
			s, err := read([]string{"--etcd-servers=http://127.0.0.1:1"})
			is.NoErr(err)
			is.NoErr(s.readVariables())
			is.Equal(s.options.Controllers, c.want)
		})
	}
}

// The help names every variable.
func TestVariablesHelp(t *testing.T) {
	is := is.New(t)
	for _, v := range variables {
		is.True(strings.Contains(VariablesHelp(), "  "+v.name+"="+v.example+"\n"))
	}
}

// Without a client, a random plan has no faults that make a suite's own requests fail.
func TestSwarm(t *testing.T) {
	is := is.New(t)
	for seed := range uint64(50) {
		plan, err := Swarm("7", seed)
		is.NoErr(err)
		is.True(!slices.ContainsFunc(plan, isVisible))
	}
	all, err := Swarm("7:operator", 1)
	is.NoErr(err)
	is.True(len(all) > 0)
	is.Equal(strings.Count(all.String(), " client=operator "), len(all))
}
