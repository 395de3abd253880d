package explore

import (
	"slices"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// finding is a plan under which a test fails.
type finding struct {
	plan  campaign.Plan
	found campaign.Plan    // the plan before shrinking
	saved string           // the file with the plan, or ""
	once  campaign.Outcome // the run in which found failed first
}

// attempts is the number of runs without a failure after which a plan counts as passing.
const attempts = 3

// shrinkAndReport shrinks a plan, saves it and reports it.
func (s *search) shrinkAndReport(p campaign.Plan, out campaign.Outcome) {
	s.t.Helper()
	small, list := s.shrink(p, out.Site())
	f := finding{plan: small, found: p, once: out}
	if s.options.Found == nil {
		f.saved = save(s.t.Name(), small, out.Failures[0].Text)
	}
	s.report(f, list)
}

// shrink returns a smaller plan that still fails at a site, and the outcomes of its runs in separate processes. Workers run many
// plans and are fast, but state that earlier runs have left in a worker may decide whether a plan fails. If the smaller plan does
// not fail in separate processes, shrink begins again and runs each plan that fails in a separate process, too. If that fails as
// well, it returns the whole plan.
func (s *search) shrink(p campaign.Plan, site string) (campaign.Plan, []campaign.Outcome) {
	for _, fails := range []func(campaign.Plan, string) bool{s.fails, s.failsAlone} {
		small, _ := campaign.Shrink(p, func(q campaign.Plan) bool { return fails(q, site) })
		if list := s.repeat(small, &campaign.Outcome{}); anyFails(list, site) {
			return small, list
		}
	}
	return p, s.repeat(p, &campaign.Outcome{})
}

// fails reports whether a plan fails at a site in at least one of several runs.
func (s *search) fails(p campaign.Plan, site string) bool {
	for range attempts {
		s.runs++
		if out := s.team.run(p, false); out.Site() == site {
			return true
		}
	}
	return false
}

// failsAlone reports whether a plan fails at a site, and again in a separate process.
func (s *search) failsAlone(p campaign.Plan, site string) bool {
	if !s.fails(p, site) {
		return false
	}
	s.runs++
	out := s.team.run(p, true)
	return out.Site() == site
}

// anyFails reports whether one of several runs failed at a site.
func anyFails(list []campaign.Outcome, site string) bool {
	return slices.ContainsFunc(list, func(o campaign.Outcome) bool { return o.Site() == site })
}

// repeat runs a plan as often as the options say, each time in a separate process. If first, an earlier run of the
// plan, hung, repeat only returns first.
func (s *search) repeat(p campaign.Plan, first *campaign.Outcome) []campaign.Outcome {
	if first.Site() == campaign.SiteHang {
		return []campaign.Outcome{*first}
	}
	plans := make([]campaign.Plan, s.options.Repeat)
	for i := range plans {
		plans[i] = p
	}
	s.runs += len(plans)
	return s.team.allFull(plans)
}
