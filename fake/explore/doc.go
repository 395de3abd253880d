// Package explore implements fake.Explore and fake.Repeatable: it runs a test again and again under plans of package campaign, in processes
// and bubbles in which a run can be repeated. A test that calls one of the two imports it:
//
//	import _ "github.com/kubesim/kubesim/fake/explore"
//
// It imports package chance, which writes into records of the Go runtime. So package fake does not import explore; explore registers itself
// (fake.RegisterExplorer). The binary of a test that calls neither of the two contains none of this code.
//
//	search ─ plans ─▶ team ─▶ worker, a process of the test binary ─▶ a bubble for each run:
//	  ▲                                          trial ◀─ each request ─ fake.Server ◀─ clients under test
//	  └──────────────── Outcome ◀──────────────────┘
package explore

import "github.com/kubesim/kubesim/fake/explore/campaign"

// Report is the result of a search. ExploreOptions.Found receives it.
type Report = campaign.Report
