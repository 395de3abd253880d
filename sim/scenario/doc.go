// Package scenario implements a language of one-line operations on a simulated cluster, and the World that runs them. Tests, the
// command kubesim and the page share it.
//
//	line ─ Parse ─▶ Op ─ World.Do ─┬─▶ apiserver.Server.Start ─▶ an answer, now or after the clock has moved
//	  ▲              │             ├─▶ sim.Cluster, clock.Manual: compact, lag, tick, …
//	  └── String ────┘             └─▶ package actor: informer, pager, controller
//	                 log []Op                │
//	                                         ▼
//	                 Result: lines for people        Frames: everything that happened, each with its cause
//
// A World is determined by its options and its log: the same options and the same log give the same frames, byte for byte, on
// every machine. To go back or to fork, run a part of the log in a new World.
//
// A World begins with the four namespaces and no other objects (sim.Options.Bare), so that a scenario can count and list its objects
// without exceptions.
//
// The package does not block, start goroutines or read the machine's clock. A request that has to wait advances the World's
// clock until it is answered, unless its line ends in &.
//
// # The language
//
// An operation is one line of words, quoted as in a shell: 'as it is', or "with \" and \\". A # begins a comment.
// In front of a request, ! means that it must fail, and ? that it may fail. $NAME is the value that let NAME has stored; $revision is
// the newest revision of the store.
//
//	get RESOURCE [NAME]          list RESOURCE              watch RESOURCE [NAME]
//	create -f FILE               apply -f FILE              replace -f FILE
//	create RESOURCE NAME         patch RESOURCE NAME -p …   delete RESOURCE NAME
//	deletecollection RESOURCE    page                       request METHOD PATH [-H 'NAME: VALUE'] [-f FILE]
//	    client, server  --as CLIENT --via REPLICA -n NAMESPACE -A
//	    reads           --rv --rv-match --limit --continue -l --field-selector --bookmarks --initial-events --timeout
//	    writes          -p --type --field-manager --force --dry-run --validate --subresource --set --from-literal
//	    deletes         --cascade --grace --precondition-rv --precondition-uid
//	    the answer      -o json|yaml|table|name|protobuf, & (do not wait for it)
//	    a watch         --name NAME, by which later lines refer to it
//
//	seed N, replicas N, replica N version=1.35 gates=A=true,B=false      before anything else
//	auth rbac                                                            a client is the user of its name, admin may do all; before
//	                                                                     anything else
//	controllers *|NAME …                                                 controllers of the control plane; before anything else
//	nodes N                                                              whose kubelets run pods; before anything else
//	clock advance 5m, tick 5m|next|quiet|settled, settle
//	stepped yes|no, reconcile [N], shuffle                               when and in which order controllers work
//	metric NAME VALUE|none [KIND/NAME] -n NAMESPACE                      a metric for autoscalers
//	stop NAME, crash NAME, start NAME, slow NAME d, lag NAME [RESOURCE …], resume NAME, restart NAME
//	pause 5m, compact, expire, restore REVISION, fork, reload, record, heal
//	lag N [RESOURCE …], cut N, resume N, restart N, unready N d, stall N [d], close N|WATCH, stop WATCH|--as CLIENT
//	route CLIENT N, hold CLIENT, release CLIENT, jump CLIENT d
//	fault on … do …, fault clear, fault release                          sim/fault has the language of faults
//
//	informer NAME RESOURCE [-n] [-l] [--field-selector]                  a list and watch with a cache of its own
//	pager NAME RESOURCE --limit N                                        reads page after page, one each step
//	controller NAME -f RULES                                             acts on what its informers show
//	step NAME [N], crash NAME, start NAME
//
//	kubectl … | grep …, k …, curl -X DELETE PATH, cat FILE …, echo TEXT, sleep 5    a line of a shell: sim/kubectl
//
//	expect CONDITION, never CONDITION, eventually [within d] CONDITION, let NAME = VALUE
//	once CONDITION do OPERATION                                          as soon as a commit makes it true
//
// A condition is about the last answer (status 409 Conflict, .metadata.name == a), the store (count pods -l app=x ==
// 2, pods/a .spec.nodeName exists), the cache of an informer (informer/x sees pods/a), or the events that a watch has received
// (watch/w saw DELETED a); not, and, or and parentheses join conditions. See package condition.
package scenario
