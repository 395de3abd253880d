package authorization

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// counts are the metrics of all webhooks (k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics and pkg/authorization/cel). Durations are
// those of the Cluster's clock. The zero value has no samples.
type counts struct {
	mu         sync.Mutex
	calls      map[string]*durations // by the labels name and result
	failedOpen map[string]int        // by the labels name and result
	evaluated  map[string]*durations // conditions, by the labels name and type
	excluded   map[string]int
	failed     map[string]int
}

// durations is a histogram. It counts the values of a bucket and of all smaller ones.
type durations struct {
	bounds  []float64
	buckets []int
	count   int
	seconds float64
}

// The upper bounds of buckets, in seconds.
var (
	callBounds      = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	conditionBounds = []float64{0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}
)

func observe(all *map[string]*durations, labels string, bounds []float64, d time.Duration) {
	if *all == nil {
		*all = map[string]*durations{}
	}
	h := (*all)[labels]
	if h == nil {
		h = &durations{bounds: bounds, buckets: make([]int, len(bounds))}
		(*all)[labels] = h
	}
	for i, bound := range bounds {
		if d.Seconds() <= bound {
			h.buckets[i]++
		}
	}
	h.count++
	h.seconds += d.Seconds()
}

func increment(all *map[string]int, labels string) {
	if *all == nil {
		*all = map[string]int{}
	}
	(*all)[labels]++
}

// call counts a call of a webhook. result is success, error, timeout or canceled.
func (c *counts) call(name, result string, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	observe(&c.calls, fmt.Sprintf("name=%q,result=%q", name, result), callBounds, d)
}

// failOpen counts a failed call after which the next authorizer decides.
func (c *counts) failOpen(name, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	increment(&c.failedOpen, fmt.Sprintf("name=%q,result=%q", name, result))
}

func ofWebhook(name string) string { return fmt.Sprintf("name=%q,type=%q", name, webhookType) }

// evaluate counts an evaluation of a webhook's conditions, which takes no time on the Cluster's clock.
func (c *counts) evaluate(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	observe(&c.evaluated, ofWebhook(name), conditionBounds, 0)
}

// exclude counts a request for which a condition of a webhook does not hold.
func (c *counts) exclude(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	increment(&c.excluded, ofWebhook(name))
}

// conditionFailed counts a request for which a condition of a webhook cannot be evaluated.
func (c *counts) conditionFailed(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	increment(&c.failed, ofWebhook(name))
}

// families writes metrics in the text format of Prometheus.
type families struct{ strings.Builder }

func (b *families) head(name, help, kind string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

func (b *families) counters(name, help string, samples map[string]int) {
	if len(samples) == 0 {
		return
	}
	b.head(name, help, "counter")
	for _, labels := range object.SortedKeys(samples) {
		fmt.Fprintf(b, "%s{%s} %d\n", name, labels, samples[labels])
	}
}

func (b *families) histograms(name, help string, samples map[string]*durations) {
	if len(samples) == 0 {
		return
	}
	b.head(name, help, "histogram")
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	for _, labels := range object.SortedKeys(samples) {
		h := samples[labels]
		for i, n := range h.buckets {
			fmt.Fprintf(b, "%s_bucket{%s,le=%q} %d\n", name, labels, number(h.bounds[i]), n)
		}
		fmt.Fprintf(b, "%s_bucket{%s,le=\"+Inf\"} %d\n%[1]s_sum{%[2]s} %[4]s\n%[1]s_count{%[2]s} %[3]d\n", name, labels, h.count, number(h.seconds))
	}
}

// reloads counts the reloads of the file.
type reloads struct {
	succeeded, failed    int
	successAt, failureAt time.Time
	hash                 string // of the contents that apply
}

// Metrics returns the metrics of webhooks and of reloads in the text format of Prometheus.
func (f *File) Metrics() string {
	if f == nil {
		return ""
	}
	var b families
	f.mu.Lock()
	r := f.reloads
	f.mu.Unlock()
	const config = "apiserver_authorization_config_controller_"
	id := fmt.Sprintf("apiserver_id_hash=%q", hash(f.id))
	samples := map[string]int{}
	when := map[string]time.Time{}
	for status, n := range map[string]int{"failure": r.failed, "success": r.succeeded} { // order does not matter
		if n > 0 {
			labels := fmt.Sprintf("%s,status=%q", id, status)
			samples[labels], when[labels] = n, map[string]time.Time{"failure": r.failureAt, "success": r.successAt}[status]
		}
	}
	if len(when) > 0 {
		b.head(config+"automatic_reload_last_timestamp_seconds", "[BETA] Timestamp of the last automatic reload of authorization configuration "+
			"split by status and apiserver identity.", "gauge")
		for _, labels := range object.SortedKeys(when) {
			fmt.Fprintf(&b, "%sautomatic_reload_last_timestamp_seconds{%s} %v\n", config, labels, float64(when[labels].UnixNano())/1e9)
		}
	}
	b.counters(config+"automatic_reloads_total", "[BETA] Total number of automatic reloads of authorization configuration split by status and "+
		"apiserver identity.", samples)
	if r.hash != "" {
		b.head(config+"last_config_info", "[ALPHA] Information about the last applied authorization configuration with hash as label, split by "+
			"apiserver identity.", "gauge")
		fmt.Fprintf(&b, "%slast_config_info{%s,hash=%q} 1\n", config, id, r.hash)
	}
	f.counts.write(&b)
	return b.String()
}

func (c *counts) write(b *families) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const prefix = "apiserver_authorization_"
	b.counters(prefix+"match_condition_evaluation_errors_total", "[ALPHA] Total number of errors when an authorization webhook encounters a match "+
		"condition error split by authorizer type and name.", c.failed)
	b.histograms(prefix+"match_condition_evaluation_seconds", "[ALPHA] Authorization match condition evaluation time in seconds, split by authorizer "+
		"type and name.", c.evaluated)
	b.counters(prefix+"match_condition_exclusions_total", "[ALPHA] Total number of exclusions when an authorization webhook is skipped because "+
		"match conditions exclude it.", c.excluded)
	b.histograms(prefix+"webhook_duration_seconds", "[ALPHA] Request latency in seconds.", c.calls)
	b.counters(prefix+"webhook_evaluations_fail_open_total", "[ALPHA] NoOpinion results due to webhook timeout or error.", c.failedOpen)
	totals := map[string]int{}
	for labels, d := range c.calls { // order does not matter
		totals[labels] = d.count
	}
	b.counters(prefix+"webhook_evaluations_total", "[ALPHA] Round-trips to authorization webhooks.", totals)
}

// hash returns the label of a text.
func hash(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
}
