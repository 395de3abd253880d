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
//	# @control compact              no request: compact the store; expire: drop the history of the watch caches, too
//	# @server 2                     send the step to Target.Second, another API server over the same store
//	# @only groups name=apps,batch  keep the items of a list whose path has these values, or the keys of a map ('@only paths =a,b')
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
// numbered by first appearance, so whether two of them are equal is still compared. Everything else must be equal.
//
// Vary draws variations of a case, Ask plays one on a real server, and Shrink and Save store the steps that a simulator answers
// differently; "make journeys" does so until enough agree.
//
// Record writes the recordings of new cases: "KUBESIM_RECORD=1 make conformance-real KUBESIM_TARGET=…". testdata/real is a real
// kube-apiserver to record from; "make real" starts it. STEPS.md counts the steps; "go test ./sim/conformance -update" writes it.
//
// # Situations
//
//	testdata/life/AREA/NAME.http   a user's requests to a cluster with controllers
//	testdata/life/AREA/NAME.res    the recorded states of a real cluster: kube-apiserver and kube-controller-manager v1.36.3
//
// A situation compares states instead of answers: all objects in the case's namespaces, objects without a namespace that have
// {{ns}} in their names, and the events about them. The answer to a request is compared only by its status, and an error also by
// its message. Steps without a request are
//
//	# @settle quiet=2             wait until nothing has changed for 2 s (the default), and no pod is left to play
//	# @state quiet=2 pods events  the same; then compare the objects of these resources, or of all. @ignore, @mask and @only
//	                              apply to the state: {"objects": {"pods/web-0": …}, "events": [{"about": "Pod/web-0", …}]}
//	# @pass 30                    let 30 s pass; with :50, until second 50 of the minute
//	# @play app=web exit 1        pods with these labels behave like this from now on
//
// The service account default and the ConfigMap kube-root-ca.crt, which every namespace has, are left out unless the head of
// the file has "# @whole". With "# @alone" no other case may run beside it, because it affects the whole cluster.
//
// There is no scheduler and no kubelet. The harness binds pods to the node {{ns}}-node, or to the node in the affinity of a
// DaemonSet's pod, runs them, and removes deleted pods. It plays one pod at a time and only when nothing has changed for a second, so
// that controllers see one change after the other on both sides. The behaviour of a pod is set by its annotation "play", or by the
// last @play that matches it:
//
//	ready         it is bound, runs and is ready; this is the default
//	unready       it is bound, runs and is not ready
//	pending       it stays unbound
//	exit 1        it runs, then its containers end with that code; with exit 0,1 the code is chosen by the completion index
//	restart 3     it runs and is ready, and its containers have been restarted 3 times
//	hang          it is ready, and does not end when it is deleted
//
// Nodes that a case makes become Ready and stay alive unless they have the annotation play: silent.
//
// Times are <time>; a uid is <uid KIND/NAME>; a generated name is numbered, web-<hash:1>-<2>. Names with the same prefix are
// ordered by the parts of the state that contain them, and a number means the same pod in the whole state. resourceVersions are
// left out, and managedFields are reduced to manager, operation and subresource.
//
// RunLife plays a situation; TestLife of fake/conformance passes it to Check, on virtual time, where it takes milliseconds. To record one,
// write NAME.http, then
//
//	make real CONTROLLERS=1       # both programs; periodic work is faster than by default (testdata/real/controllers.go)
//	KUBESIM_RECORD=1 make life-real KUBESIM_TARGET=http://127.0.0.1:6480 KUBESIM_TOKEN=admintoken
//	make life                     # play it on kubesim
//
// Each situation is recorded twice, and a recording is refused if the two runs differ: let time pass, or settle for longer. Known
// differences are listed in testdata/life/known_differences.txt with the reason; a case listed there that agrees fails the test.
// make life-real also plays situations against kubesim over HTTP: kubesim serve --auth rbac --controllers='*,-kube-scheduler'.
//
// The package is support for tests and belongs to no row of the design: it is an HTTP client, does not depend on the
// simulator, and also runs against a real cluster.
package conformance
