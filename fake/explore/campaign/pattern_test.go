package campaign_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trouble"
)

// busy returns the outcome of a run in which a user, an operator and a controller write.
func busy() *campaign.Outcome {
	o := &campaign.Outcome{Seen: campaign.Seen{Replicas: 2, Took: time.Hour, Resources: []string{"pods", "widgets.example.com"},
		Clients: []campaign.Client{{Name: "operator", Writes: 9, Process: true}}}}
	for i := range 9 {
		at := time.Duration(i) * time.Minute
		o.Writes = append(o.Writes, campaign.Write{At: at, Client: "operator", Verb: "update", What: "widgets.example.com/status", Key: "default/w"})
	}
	o.Own = []campaign.Write{{At: 4 * time.Minute, Client: campaign.TestItself, Verb: "delete", What: "widgets.example.com", Key: "default/w"}}
	o.Others = []campaign.Write{{At: 20 * time.Minute, Verb: "MODIFIED", What: "pods", Key: "default/p"}}
	return o
}

// patterns returns the plans of 1,000 seeds that have at most three lines and contain a text. "; " separates their lines.
func patterns(l campaign.Limits, calm *campaign.Outcome, part string) (plans []string) {
	for seed := range uint64(1000) {
		p := campaign.NewCampaign(l, calm).Plan(seed)
		if text := strings.ReplaceAll(strings.TrimSpace(p.Lines()), "\n", "; "); len(p.Items) < 4 && strings.Contains(text, part) {
			plans = append(plans, text)
		}
	}
	return plans
}

// TestTravel checks that some plans restart a process with an API server that lags since an earlier write, also since one of the test itself
// and for one resource.
func TestTravel(t *testing.T) {
	is := is.New(t)
	degraded, legal := campaign.Limits{Items: 8, Level: fault.Degraded}, campaign.Limits{Items: 8, Level: fault.Legal}
	for seed := range uint64(1000) {
		steps := campaign.NewCampaign(degraded, busy()).Plan(seed).Steps()
		if len(steps) != 2 || !strings.Contains(steps[0].String(), "do lag 2 1h0m0s") {
			continue
		}
		crash, ok := steps[1].Do.(campaign.Crash)
		is.True(ok && crash.Replica == 2)
		if from, to := steps[0].When, steps[1].When; from.Client == "operator" && to.Client == "operator" {
			is.True(from.Nth <= to.Nth && to.Nth <= 9) // the server lags first
		}
	}
	n := len(patterns(degraded, busy(), "do lag 2 1h0m0s"))
	is.True(n > 50 && n < 150)
	is.True(len(patterns(degraded, busy(), "test 1 do lag 2 1h0m0s widgets.example.com")) > 5)
	is.True(len(patterns(degraded, busy(), "at 19m59s do lag 2 1h0m0s")) > 5)
	is.Equal(len(patterns(legal, busy(), "do lag 2 1h0m0s")), 0) // a stale API server after a restart is not legal
	calm := busy()
	calm.Seen.Replicas = 1
	is.Equal(len(patterns(degraded, calm, "stale=")), 0)
}

// TestGap checks that in some plans an API server does not apply a change, and that in some of them clients have to list again.
func TestGap(t *testing.T) {
	is := is.New(t)
	l := campaign.Limits{Items: 8, Level: fault.Legal}
	list := patterns(l, busy(), "before test 1 do lag 1")
	again := 0
	for _, text := range list {
		if strings.HasSuffix(text, "; after test 1 do expire; after test 1 do restart 1") {
			again++
		}
	}
	is.True(again > 5 && len(list) > again+5)
	is.True(len(patterns(l, busy(), "at 19m59s do lag 1")) > 5) // before a change that no request has made
	l.Without = []string{trouble.Lag.Name}
	is.Equal(len(patterns(l, busy(), "do lag")), 0)
}

// TestInterruption checks that some plans are a single crash around a write, and that the process is down for minutes in some of them.
func TestInterruption(t *testing.T) {
	is := is.New(t)
	short, long := 0, 0
	for _, text := range patterns(campaign.Limits{Items: 8}, busy(), "do crash operator") {
		var when string
		var n int
		var down string
		if _, err := fmt.Sscanf(text, "%s operator %d do crash operator %s", &when, &n, &down); err != nil || strings.Contains(text, ";") {
			continue
		}
		d, err := time.ParseDuration(down)
		is.NoErr(err)
		is.True(n >= 1 && n <= 9)
		if d <= 10*time.Second {
			short++
		} else {
			long++
		}
	}
	is.True(short > long && long > 5)
}

// TestStepsOfTheTest checks that steps of other plans also run around the writes of the test itself, and around commits without a request.
func TestStepsOfTheTest(t *testing.T) {
	is := is.New(t)
	around, after := 0, 0
	c := campaign.NewCampaign(campaign.Limits{Items: 8, Level: fault.Degraded, NoFeedback: true}, busy())
	for seed := range uint64(1000) {
		if p := c.Plan(seed); len(p.Items) >= 4 {
			around += strings.Count(p.Lines(), " test 1 do ")
			after += strings.Count(p.Lines(), "at 20m1s do ")
		}
	}
	is.True(around > 50)
	is.True(after > 20)
}

// TestKnownIsNotKept checks that a plan with a known failure is not changed, although it has led to new behaviour.
func TestKnownIsNotKept(t *testing.T) {
	is := is.New(t)
	c := campaign.NewCampaign(campaign.Limits{Items: 8}, busy())
	o := &campaign.Outcome{Failures: []campaign.Failure{{Text: "it is known"}}, Sequences: []uint64{1}}
	o.Forget([]string{"is known"})
	is.Equal(len(o.Failures), 0)
	c.Learn(c.Plan(1), o)
	c.Learn(c.Plan(2), &campaign.Outcome{Sequences: []uint64{2}})
	sequences, plans := c.Known()
	is.Equal([]int{sequences, plans}, []int{2, 1})
}
