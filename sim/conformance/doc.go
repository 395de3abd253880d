// Package conformance replays recorded HTTP exchanges against an API server and compares the answers
// with those of a real kube-apiserver v1.36.3.
//
//	testdata/cases/AREA/NAME.http   the requests: a list of steps
//	testdata/cases/AREA/NAME.res    the recorded answers, volatile values replaced by labels
//
//	Case ── Run ──> []StepResult            one case against one Target
//	  │                 ▲
//	  │   request ──> Target ──> answer ──> reduce (@only @ignore @mask) ──> normaliser ──> difference
//	  └── steps, recording                                                                    ▲
//	        └────────────────────────────── recorded answer ──────────────────────────────────┘
//
// A step is written like this; every line that begins with "# @" is optional:
//
//	### step-name
//	# @watch events=3 seconds=2     read a watch until 3 events came or 2 s passed; end=1: compare also whether the server ended it
//	# @sleep 0.5                    wait before the step
//	# @until status=200 seconds=10  repeat the step every 0.05 s until it answers that status
//	# @control compact              no request: the store forgets old revisions; expire: the watch caches forget too
//	# @server 2                     send the step to Target.Second, another API server over the same store
//	# @only groups name=apps,batch  of a list keep the items whose path has these values; of a map ('@only paths =a,b') the keys
//	# @ignore metadata.foo          leave a JSON path out of the comparison
//	# @mask metadata.continue       compare only that the JSON path has a value
//	# @header etag=*                compare one more response header; '=*': only that it is there
//	# @raw                          compare the body as text: key order, indentation
//	# @body base64                  the request body is base64 of the bytes to send
//	METHOD /path?query
//	Header: value
//
//	body
//
// {{ns}} is a namespace made before the case and deleted after it, unless the head of the file says "# @no-namespace".
// {{step.metadata.uid}} is a value of an earlier step's answer, {{step.events.0.object.metadata.name}} of a watch's event,
// {{rv+5:step.metadata.resourceVersion}} adds to a number, {{repeat:3:x}} is xxx.
//
// Uids, resourceVersions, times, generated names, continue tokens and ages differ from run to run. They become labels
// numbered by first appearance, so whether two of them are equal is still compared. Nothing else is forgiven.
//
// Vary draws variations of a case, Ask plays one on a real server, Shrink and Save keep what a simulator answers
// differently; "make journeys" does so until enough agree. Record writes the recordings of new cases. testdata/real is a real kube-apiserver to record from; "make real" starts it.
//
// The package is support for tests and belongs to no row of the design: it is an HTTP client, knows nothing of the
// simulator, and runs against a real cluster too.
package conformance
