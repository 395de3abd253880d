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
// differently; "make journeys" does so until enough agree.
//
// Record writes the recordings of new cases: "KUBESIM_RECORD=1 make conformance-real KUBESIM_TARGET=…". testdata/real is a real
// kube-apiserver to record from; "make real" starts it. STEPS.md counts the steps; "go test ./sim/conformance -update" writes it.
//
// # Situations
//
//	testdata/life/AREA/NAME.http   what a user does to a cluster in which controllers act
//	testdata/life/AREA/NAME.res    what came of it in a real one: kube-apiserver and kube-controller-manager v1.36.3
//
// Not answers are compared there but states: of all objects of the case's namespaces, of those without a namespace that have
// {{ns}} in their names, and of the events about them. A request's own answer is compared by its status, and an error by its
// message. Steps without a request are
//
//	# @settle quiet=2             wait until nothing has moved for 2 s (which is the default), and no pod is left to play
//	# @state quiet=2 pods events  the same; then compare what there is, of these resources or of all. @ignore, @mask and @only
//	                              go for the state: {"objects": {"pods/web-0": …}, "events": [{"about": "Pod/web-0", …}]}
//	# @pass 30                    let 30 s pass; :50: until the minute's second 50
//	# @play app=web exit 1        pods with these labels do that from now on
//
// The service account default and the ConfigMap kube-root-ca.crt, which every namespace has, are left out unless the head of
// the file says "# @whole". "# @alone" says that no other may run beside it: all of the cluster feels it.
//
// There is no scheduler and no kubelet: the harness binds pods to the node {{ns}}-node, or to that which the affinity of a
// DaemonSet's pod names, runs them and removes those that are deleted, one at a time and only when nothing has moved for a
// second, so that controllers see one change after the other on both sides. What becomes of a pod says its annotation "play",
// or the last @play that is about it:
//
//	ready         it is bound, runs and is ready: without an annotation, too
//	unready       it is bound, runs and is not ready
//	pending       it stays unbound
//	exit 1        it runs, then its containers end with that code; exit 0,1: with that of its completion index
//	restart 3     it runs and is ready, and its containers were restarted so often
//	hang          it is ready, and does not end when it is deleted
//
// Nodes that a case makes become Ready and stay alive unless they have the annotation play: silent.
//
// Times are <time>; a uid is <uid KIND/NAME>; a generated name is numbered, web-<hash:1>-<2>, those that begin alike in the
// order of what is said of them: a number means the same pod in all of a state. resourceVersions are left out, and of
// managedFields all but who manages how.
//
// RunLife plays a situation, for Check as fake's TestLife does on virtual time, where it takes milliseconds. To record one,
// write NAME.http, then
//
//	make real CONTROLLERS=1       # both programs; what they do in rounds is faster than by default (testdata/real/controllers.go)
//	KUBESIM_RECORD=1 make life-real KUBESIM_TARGET=http://127.0.0.1:6480 KUBESIM_TOKEN=admintoken
//	make life                     # what kubesim does
//
// Each is recorded twice, and what is not the same again is no recording: let time pass, or settle for longer. What agrees not
// yet stands in testdata/life/known_differences.txt with the reason; a case listed there that agrees fails the test. Over HTTP,
// kubesim serve --auth rbac --controllers='*,-kube-scheduler' is played by make life-real, too.
//
// The package is support for tests and belongs to no row of the design: it is an HTTP client, knows nothing of the
// simulator, and runs against a real cluster too.
package conformance
