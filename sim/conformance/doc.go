// Package conformance replays recorded HTTP exchanges against an API server and compares the responses with those of a
// real kube-apiserver v1.36.3.
//
//	testdata/cases/AREA/NAME.http   the requests: a list of steps
//	testdata/cases/AREA/NAME.res    the recorded responses, with volatile values replaced with labels
//
//	Case ── Run ──> []StepResult            one case against one Target
//	  │                 ▲
//	  │   request ──> Target ──> response ──> reduce (@only @ignore @mask) ──> normaliser ──> difference
//	  └── steps, recording                                                                      ▲
//	        └────────────────────────────── recorded response ──────────────────────────────────┘
//
// A step has the following form. Lines that begin with "# @" are optional:
//
//	### step-name
//	# @watch events=3 seconds=2     read a watch until 3 events have arrived or 2 s have passed; end=1: also compare whether the server ended it
//	# @sleep 0.5                    wait before the step
//	# @until status=200 seconds=10  repeat the step every 0.05 s until the response has that status
//	# @control compact              instead of a request, compact the store; expire: also clear the history of the watch caches
//	# @server 2                     send the step to Target.Second, another API server over the same store
//	# @only groups name=apps,batch  compare only the items of a list with these values at a path, or these keys of a map ('@only paths =a,b')
//	# @ignore metadata.foo          do not compare a JSON path
//	# @mask metadata.continue       compare only whether the JSON path has a value
//	# @header etag=*                compare an additional response header; '=*': only whether the response has it
//	# @raw                          compare the body as text, including key order and indentation
//	# @body base64                  the request body is base64-encoded
//	METHOD /path?query
//	Header: value
//
//	body
//
// {{ns}} is a namespace that is created before the case and deleted after it, unless the head of the file contains "#
// @no-namespace". {{step.metadata.uid}} is a value in the response to an earlier step, and
// {{step.events.0.object.metadata.name}} a value in an event of a watch. {{rv+5:step.metadata.resourceVersion}} adds to
// a number, and {{repeat:3:x}} is xxx.
//
// Uids, resourceVersions, times, generated names, continue tokens and ages differ from run to run. They are replaced with
// labels that are numbered by first appearance, so that the comparison still shows whether two of them are equal. All
// other values must be equal.
//
// "make journeys" draws variations of cases, plays them on a real server with Ask, and saves those to which a simulator
// responds differently, until enough agree (TestJourneys of fake/conformance).
//
// Record writes the recordings of new cases: "KUBESIM_RECORD=1 make conformance-real KUBESIM_TARGET=…". testdata/real
// contains a real kube-apiserver to record from; "make real" starts it. STEPS.md counts the steps; "go test
// ./sim/conformance -update" writes it.
//
// # Situations
//
//	testdata/life/AREA/NAME.http   a user's requests to a cluster with controllers
//	testdata/life/AREA/NAME.res    the recorded states of a real cluster: kube-apiserver and kube-controller-manager v1.36.3
//
// A situation compares states instead of responses: all objects in the case's namespaces, objects without a namespace
// that have {{ns}} in their names, and the events about them. The comparison of a response is limited to its status
// and, for an error, its message. The steps without a request are
//
//	# @settle quiet=2             wait until nothing has changed for 2 s (the default), and no pod is left to play
//	# @state quiet=2 pods events  the same; then compare the objects of these resources, or of all resources. @ignore, @mask and @only
//	                              apply to the state: {"objects": {"pods/web-0": …}, "events": [{"about": "Pod/web-0", …}]}
//	# @pass 30                    let 30 s pass; with :50, wait until second 50 of the minute
//	# @play app=web exit 1        set the behaviour of pods with these labels
//
// The service account default and the ConfigMap kube-root-ca.crt, which every namespace has, are omitted unless the
// head of the file contains "# @whole". "# @alone" means that no other case may run concurrently, because the case
// affects the whole cluster.
//
// "# @scheduled" means that a scheduler runs, too, and that the case runs alone, because the scheduler's messages count
// all nodes. The harness then does not bind pods. Such a case is recorded from "make real CONTROLLERS=1 SCHEDULER=1", with
// KUBESIM_SCHEDULED=1.
//
// In other cases there is no scheduler, and there is no kubelet in any. The harness binds pods to the node {{ns}}-node, or to the node in the affinity
// of a DaemonSet's pod, runs them, and removes deleted pods. It plays one pod at a time, and only when nothing has
// changed for a second, so that controllers on both sides see one change after the other. The behaviour of a pod is set
// by the last @play that matches it, or else by its annotation "play":
//
//	ready         the pod is bound, runs and is ready; this is the default
//	unready       the pod is bound, runs and is not ready
//	pending       the pod stays unbound
//	exit 1        the pod runs, then its containers exit with that code; with exit 0,1 the completion index selects the code
//	restart 3     the pod runs and is ready, and its containers have been restarted 3 times
//	hang          the pod is ready, and does not terminate when it is deleted
//
// Nodes that a case creates become Ready and stay alive unless they have the annotation play: silent.
//
// Times are replaced with <time>, and a uid with <uid KIND/NAME>. Generated names are numbered: web-<hash:1>-<2>. Names
// with the same prefix are ordered by the parts of the state that contain them, and a number stands for the same pod in
// the whole state. resourceVersions are omitted, and managedFields are reduced to manager, operation and subresource.
//
// RunLife plays a situation. TestLife of fake/conformance passes it to Check, in virtual time, where it takes
// milliseconds. To record a situation, write NAME.http, then run
//
//	make real CONTROLLERS=1       # both programs; periodic tasks run more often than by default (testdata/real/controllers.go)
//	KUBESIM_RECORD=1 make life-real KUBESIM_TARGET=http://127.0.0.1:6480 KUBESIM_TOKEN=admintoken
//	make life                     # play it on kubesim
//
// Each situation is recorded twice, and a recording is rejected if the two runs differ. In that case, let time pass or
// settle for longer. Known differences are listed in testdata/life/known_differences.txt with their reasons; the test
// fails if a listed case agrees. make life-real also plays situations against kubesim over HTTP: kubesim serve --auth
// rbac --controllers='*,-volume-attacher,-kube-scheduler'.
//
// The package supports tests and does not belong to any layer of the design: it is an HTTP client, does not depend on
// the simulator, and also runs against a real cluster.
package conformance
