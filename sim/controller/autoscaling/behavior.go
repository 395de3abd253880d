package autoscaling

import (
	"math"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// stabilization is the period in which the highest recommendation is used (--horizontal-pod-autoscaler-downscale-stabilization).
const stabilization = 5 * time.Minute

// history holds the recommendations and actions of a HorizontalPodAutoscaler. Old entries are overwritten.
type history struct {
	Selector        string  `json:",omitempty"` // selector of its pods
	Recommendations []entry `json:",omitempty"`
	Ups, Downs      []entry `json:",omitempty"` // numbers of added and of removed replicas
}

// entry is a number with the time when it was recorded.
type entry struct {
	N  int64
	At time.Time
}

// put records n in entries. It overwrites the last entry for which old returns true or, if there is none, appends one.
func put(entries []entry, n int64, now time.Time, old func(entry) bool) []entry {
	for i := len(entries) - 1; i >= 0; i-- {
		if old(entries[i]) {
			entries[i] = entry{n, now}
			return entries
		}
	}
	return append(entries, entry{n, now})
}

// limits contains the limits that apply to a recommendation.
type limits struct {
	history  *history
	now      time.Time
	min, max int64
	current  int64
	up, down object.Object // from spec.behavior, or nil
}

// decision is the resulting number of replicas and the reasons why it differs from the recommendation.
type decision struct {
	replicas        int64
	held            bool // the number was changed because of recent recommendations
	heldFor, heldBy string
	limited         bool
	reason, message string
}

// decide applies the limits to the recommended number of replicas.
func (l limits) decide(want int64) (d decision) {
	stable := int64(0)
	if l.up == nil && l.down == nil {
		stable = l.stabilize(want)
		d.heldFor = "ScaleDownStabilized"
	} else {
		stable = l.stabilizeBoth(want)
		d.heldFor = "ScaleUpStabilized"
		if want < l.current {
			d.heldFor = "ScaleDownStabilized"
		}
	}
	d.held = stable != want
	d.heldBy = "recent recommendations were higher than current one, applying the highest recent recommendation"
	if d.heldFor == "ScaleUpStabilized" {
		d.heldBy = "recent recommendations were lower than current one, applying the lowest recent recommendation"
	}
	if l.up == nil && l.down == nil {
		d.replicas, d.reason = l.bound(stable)
	} else {
		d.replicas, d.reason = l.slowDown(stable)
	}
	d.limited = d.replicas != stable
	d.message = messages[d.reason]
	return d
}

var messages = map[string]string{
	"DesiredWithinRange": "the desired count is within the acceptable range",
	"TooManyReplicas":    "the desired replica count is more than the maximum replica count",
	"TooFewReplicas":     "the desired replica count is less than the minimum replica count",
	"ScaleUpLimit":       "the desired replica count is increasing faster than the maximum scale rate",
	"ScaleDownLimit":     "the desired replica count is decreasing faster than the maximum scale rate",
}

// stabilize returns the highest of the recent recommendations (stabilizeRecommendation).
func (l limits) stabilize(want int64) int64 {
	cutoff := l.now.Add(-stabilization)
	highest := want
	for _, r := range l.history.Recommendations {
		if !r.At.Before(cutoff) {
			highest = max(highest, r.N)
		}
	}
	l.history.Recommendations = put(l.history.Recommendations, want, l.now, func(r entry) bool { return r.At.Before(cutoff) })
	return highest
}

// stabilizeBoth returns the number nearest to the current one that is between the lowest and the highest recent recommendation. For
// scaling up and down, the time windows differ (stabilizeRecommendationWithBehaviors).
func (l limits) stabilizeBoth(want int64) int64 {
	upFrom, downFrom := l.now.Add(-window(l.up, 0)), l.now.Add(-window(l.down, stabilization))
	lowest, highest := want, want
	for _, r := range l.history.Recommendations {
		if r.At.After(upFrom) {
			lowest = min(lowest, r.N)
		}
		if r.At.After(downFrom) {
			highest = max(highest, r.N)
		}
	}
	l.history.Recommendations = put(l.history.Recommendations, want, l.now, func(r entry) bool {
		return r.At.Before(upFrom) && r.At.Before(downFrom)
	})
	return min(max(l.current, lowest), highest)
}

func window(rules object.Object, otherwise time.Duration) time.Duration {
	if n, ok := rules.Int("stabilizationWindowSeconds"); ok {
		return time.Duration(n) * time.Second
	}
	return otherwise
}

// bound limits a recommendation to the minimum and maximum, and to twice the current number. It also returns the reason for the
// limit, or "" (convertDesiredReplicasWithRules).
func (l limits) bound(want int64) (int64, string) {
	most, reason := l.max, "TooManyReplicas"
	if fast := max(2*l.current, 4); l.max > fast {
		most, reason = fast, "ScaleUpLimit"
	}
	switch {
	case want < l.min:
		return l.min, "TooFewReplicas"
	case want > most:
		return most, reason
	}
	return want, "DesiredWithinRange"
}

// slowDown limits a number to the minimum and maximum, and to the rate of change that the policies allow
// (convertDesiredReplicasWithBehaviorRate).
func (l limits) slowDown(want int64) (int64, string) {
	switch {
	case want > l.current:
		most, reason := l.max, "TooManyReplicas"
		if fast := max(l.fastest(l.up, 1), l.current); l.max > fast {
			most, reason = fast, "ScaleUpLimit"
		}
		if want > most {
			return most, reason
		}
	case want < l.current:
		least, reason := l.min, "TooFewReplicas"
		if fast := min(l.fastest(l.down, -1), l.current); l.min < fast {
			least, reason = fast, "ScaleDownLimit"
		}
		if want < least {
			return least, reason
		}
	}
	return want, "DesiredWithinRange"
}

// fastest returns the number of replicas that the policies allow: the largest for scaling up and the smallest for scaling down
// (sign -1), or the opposite if selectPolicy is Min (calculateScaleUpLimitWithScalingRules,
// calculateScaleDownLimitWithBehaviors).
func (l limits) fastest(rules object.Object, sign int64) int64 {
	choose := rules.String("selectPolicy")
	if choose == "Disabled" {
		return l.current
	}
	result, first := int64(0), true
	for _, p := range rules.Objects("policies") {
		since := l.now.Add(-time.Duration(p.Int64("periodSeconds")) * time.Second)
		start := l.current - changes(l.history.Ups, since) + changes(l.history.Downs, since)
		value := p.Int64("value")
		proposed := start + sign*value
		if p.String("type") == "Percent" {
			share := float64(start) * (1 + float64(sign*value)/100)
			if proposed = int64(share); sign > 0 {
				proposed = int64(math.Ceil(share)) // rounded up, because otherwise a small number could never grow
			}
		}
		if further := (proposed - result) * sign; first || (further > 0) == (choose != "Min") {
			result, first = proposed, false
		}
	}
	return result
}

// changes returns the number of replicas that were added or removed after a time.
func changes(entries []entry, since time.Time) (n int64) {
	for _, e := range entries {
		if e.At.After(since) {
			n += e.N
		}
	}
	return n
}

// scaled records a change of the number of replicas to the given number, for the policies (storeScaleEvent).
func (l limits) scaled(to int64) {
	if l.up == nil && l.down == nil {
		return
	}
	old := func(rules object.Object) func(entry) bool {
		longest := int64(0)
		for _, p := range rules.Objects("policies") {
			longest = max(longest, p.Int64("periodSeconds"))
		}
		cutoff := l.now.Add(-time.Duration(longest) * time.Second)
		return func(e entry) bool { return e.At.Before(cutoff) }
	}
	if to > l.current {
		l.history.Ups = put(l.history.Ups, to-l.current, l.now, old(l.up))
	} else {
		l.history.Downs = put(l.history.Downs, l.current-to, l.now, old(l.down))
	}
}
