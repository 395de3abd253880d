package fake_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestSeats compares the metric of the seats of each priority level with the figures of a real server. A client that
// adds a level waits until the metric shows the level.
func TestSeats(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	line := regexp.MustCompile(`(?m)^apiserver_flowcontrol_nominal_limit_seats\{priority_level="(.*)"\} (\d+)$`)
	seats := func() string {
		_, body := c.do("GET", "/metrics", "")
		var all []string
		for _, m := range line.FindAllStringSubmatch(body, -1) {
			all = append(all, m[1]+" "+m[2])
		}
		return strings.Join(all, ", ")
	}
	is.Equal(seats(), "catch-all 13, exempt 0, global-default 49, leader-election 25, node-high 98, system 74, workload-high 98, workload-low 245")
	const levels = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
	c.do("POST", levels, `{"metadata":{"name":"more"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":55,"limitResponse":{"type":"Reject"}}}}`)
	_, body := c.do("GET", levels+"/exempt", "")
	c.do("PUT", levels+"/exempt", strings.Replace(body, `"nominalConcurrencyShares":0`, `"nominalConcurrencyShares":10`, 1))
	is.Equal(seats(), "catch-all 10, exempt 20, global-default 39, leader-election 20, more 107, node-high 78, system 59, workload-high 78, workload-low 194")

	bare := client{t, fake.RunT(t, fake.Options{Bare: true})}
	_, body = bare.do("GET", "/metrics", "")
	is.True(!strings.Contains(body, "apiserver_flowcontrol"))                                           // without levels there is no metric
	is.True(strings.Contains(body, "\napiserver_validation_declarative_validation_mismatch_total 0\n")) // upstream's test suite reads this metric
}
