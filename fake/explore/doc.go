// Package explore implements fake.Explore and fake.Repeatable. It runs a test repeatedly under plans of package
// campaign, in processes and bubbles in which a run can be repeated. A test that calls one of these functions imports
// it:
//
//	import _ "github.com/kubesim/kubesim/fake/explore"
//
// It imports package chance, which writes to internal data of the Go runtime. For this reason package fake does not
// import explore; instead, explore registers itself (fake.RegisterExplorer). The binary of a test that calls neither
// function does not contain this code.
//
//	search ─ plans ─▶ team ─▶ worker, a process of the test binary ─▶ one bubble per run:
//	  ▲                                          trial ◀─ each request ─ fake.Server ◀─ clients under test
//	  └──────────────── Outcome ◀──────────────────┘
package explore

import "github.com/kubesim/kubesim/fake/explore/campaign"

// Report is the result of a search. ExploreOptions.Found receives it.
type Report = campaign.Report
