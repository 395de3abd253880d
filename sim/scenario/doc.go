// Package scenario implements a language of one-line operations on a simulated cluster, and the World that runs them. Tests, the
// command kubesim and the page share it.
//
//	line ─ Parse ─▶ Op ─ World.Do ─┬─▶ apiserver.Server.Start ─▶ a response, now or after the clock has moved
//	  ▲              │             ├─▶ sim.Cluster, clock.Manual: compact, lag, tick, …
//	  └── String ────┘             └─▶ package actor: informer, pager, controller
//	                 log []Op                │
//	                                         ▼
//	                 Result: lines for people        Frames: everything that happened, each with its cause
//
// A World is determined by its options and its log: the same options and the same log produce the same frames, byte for
// byte, on every machine. To go back or to fork, run part of the log in a new World.
//
// A World begins with the four standard namespaces and no other objects (sim.Options.Bare), so that a scenario can
// count and list objects without exceptions.
//
// The package does not block, start goroutines or read the machine's clock. A request that has to wait advances the
// World's clock until the response arrives, unless its line ends in &.
//
// # The language
//
// An operation is one line of words, quoted as in a shell: 'as it is', or "with \" and \\". A # begins a comment. A !
// before a request means that it must fail, a ? that it may fail. $NAME is the value that let NAME has stored;
// $revision is the newest revision of the store.
//
//	get RESOURCE [NAME]          list RESOURCE              watch RESOURCE [NAME]
//	create -f FILE               apply -f FILE              replace -f FILE
//	create RESOURCE NAME         patch RESOURCE NAME -p …   delete RESOURCE NAME
//	deletecollection RESOURCE    page                       request METHOD PATH [-H 'NAME: VALUE'] [-f FILE]
//	    client, server  --as CLIENT --via REPLICA -n NAMESPACE -A
//	    reads           --rv --rv-match --limit --continue -l --field-selector --bookmarks --initial-events --timeout
//	    writes          -p --type --field-manager --force --dry-run --validate --subresource --set --from-literal
//	    deletes         --cascade --grace --precondition-rv --precondition-uid
//	    responses       -o json|yaml|table|name|protobuf, & (do not wait for the response)
//	    watches         --name NAME, by which later lines refer to the watch
//
//	seed N, replicas N, replica N version=1.35 gates=A=true,B=false      before all other operations
//	auth rbac                                                            each client is the user of its name, admin may do everything;
//	                                                                     before all other operations
//	auth cluster                                                         as in a new cluster: its roles exist, RBAC decides, and all
//	                                                                     clients are administrators; before all other operations
//	controllers *|NAME …                                                 controllers of the control plane; before all other operations
//	nodes N                                                              nodes, whose kubelets run pods; before all other operations
//	classes                                                              a default StorageClass and a default IngressClass; before all
//	                                                                     other operations
//	import FILE [NODE …]                                                 objects of a real cluster as they are, at the time of that
//	                                                                     cluster, and the kubelets of its nodes; before all other operations
//	clock advance 5m, tick 5m|next|quiet|settled, settle
//	stepped yes|no, reconcile [N], shuffle                               when and in which order controllers reconcile
//	metric NAME VALUE|none [KIND/NAME] -n NAMESPACE                      a metric for autoscalers
//	stop NAME, crash NAME, start NAME, slow NAME d, lag NAME [RESOURCE …], resume NAME, restart NAME
//	pause 5m, compact, expire, restore REVISION, fork, reload, record, heal
//	lag N [RESOURCE …], cut N, resume N, restart N, unready N d, stall N [d], close N|WATCH, stop WATCH|--as CLIENT
//	route CLIENT N, hold CLIENT, release CLIENT, jump CLIENT d
//	fault on … do …, fault clear, fault release                          package sim/fault defines the language of faults
//
//	informer NAME RESOURCE [-n] [-l] [--field-selector]                  lists, watches and keeps a cache
//	pager NAME RESOURCE --limit N                                        reads a list page by page, one page per step
//	controller NAME -f RULES                                             acts on the caches of its informers
//	step NAME [N], crash NAME, start NAME
//
//	kubectl … | grep …, k …, curl -X DELETE PATH, cat FILE …, echo TEXT, printf TEXT, mkdir FOLDER, cp FILE FILE, sleep 5    a shell
//	command line: sim/kubectl
//
//	expect CONDITION, never CONDITION, eventually [within d] CONDITION, let NAME = VALUE
//	once CONDITION do OPERATION                                          as soon as a commit makes it true
//
// A condition is about the last response (status 409 Conflict, .metadata.name == a), the store (count pods -l app=x ==
// 2, pods/a .spec.nodeName exists), the cache of an informer (informer/x sees pods/a), or the events that a watch has
// received (watch/w saw DELETED a). Conditions can be combined with not, and, or and parentheses. See package
// condition.
package scenario
