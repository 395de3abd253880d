package main

// row is a bug of an operator, or a search in an operator for unknown bugs, with fixed empty.
type row struct {
	name     string
	operator string // the folder of its module
	module   string // the path of the operator's module
	bad      string // the last tested version with the bug
	fixed    string // the first tested version without it, or empty
	issue    string
	kind     string
	bug      string // one sentence
	// instead names, by column, the other bug that a search reported first.
	instead map[string]string
	// known are texts in the failures of other bugs that the version has, one per line. Searches ignore failures with such a text. It is
	// empty if no other bug is known.
	known string
	// knownAfter are such texts for the blind search in the fixed version only. The row's own bug can have the same signs, so that search
	// would not see it; the plan in the fixed version does not ignore them.
	knownAfter string
	tags       map[string]string // build tags by version, for versions whose functions have other parameters
	// test is the test to run instead of TestOperator: TestTransition if the row is about edits instead of faults.
	test string
	// files is a file of the operator's module, or the folder of a package, to copy beside the test. It is empty if the test can
	// import the package and needs only exported names.
	files string
}

// Texts in the failures of one bug of an operator, which the searches for its other bugs ignore.
const (
	jobsetStatus   = `status.terminalState: "Completed" → -`
	jobsetFinished = "+ jobs.batch default/a-\n+ jobs.batch default/b-" // Jobs of JobSets that the test does not delete
	jobsetAgain    = "+ jobs.batch default/c-"                          // the same bug, of the JobSet that is created again, or by design, as jobsetLivelock
	jobsetService  = "- services {"                                     // the Service of the JobSet that is created again
	jobsetStale    = "+ services default/c: created"                    // by design, as jobsetLivelock
	jobsetLivelock = "a livelock: jobs.batch default/c-"                // by design: a deleted JobSet is still in the cache, so its Jobs are created again
	// By design, if the MPIJob was resumed, or the launcher's Job finished, before the operator has seen it.
	mpiUnseen     = "status.conditions[Suspended]: {\nstatus.conditions[Running]: {\n" + `status.conditions[Running].reason: "MPIJobRunning" → "MPIJobSuspended"`
	mpiFinished   = "+ pods default/pi-worker-\ndata[discover_hosts.sh]" // a finished MPIJob counts as running, so its pods are created again
	mpiRunning    = `status.conditions[Running].status: "False" → "True"`
	mpiStale      = "+ pods default/tau-"
	mpiSuspend    = "spec.suspend: false → true"
	lwsService    = "+ services default/serving: created\n+ statefulsets.apps default/serving: created" // by design: the operator has read their owner before its deletion
	lwsForeground = "a livelock: "                                                                      // by design after v0.6.0, if the cache has the LeaderWorkerSet without its deletion
	// By design, while a StatefulSet is deleted in the foreground, its controller creates its revision once more at each change of its pods.
	lwsHistory          = "+ controllerrevisions.apps default/serving-654758bf8d: created"
	lwsStale            = "+ statefulsets.apps default/serving-2: created"
	lwsRevision         = "+ controllerrevisions.apps default/serving-646d8c6f5c-"
	rabbitmqCrash       = `spec.resources.requests.storage: "15Gi" → "10Gi"`
	rabbitmqPanic       = "nil pointer dereference"
	rabbitmqLate        = `spec.resources.requests.storage: "15Gi" → "20Gi"` + "\n- statefulsets.apps {" // the first RabbitmqCluster is not gone after a minute, by design
	sealedsecretsStatus = "status.conditions[Synced]\nstatus: {"                                         // the dropped error
	sealedsecretsPanic  = "cache.DeletedFinalStateUnknown, not *v1.Secret"
	sealedsecretsTries  = "- secrets {" // by design: after five failures within 0.2 s the operator waits for the next change of the SealedSecret
	sampleReplicas      = "+ pods default/web-"
	zookeeperFinalizer  = "+ persistentvolumeclaims {"
	zookeeperMetadata   = "status.metaRootCreated: true → -"
	zookeeperOrphan     = "metadata.deletionGracePeriodSeconds: - → 0"
	zookeeperSize       = "spec.replicas: 3 → 2"
	zookeeperAgain      = "statefulsets.apps default/goes: created 2 times" // after the deletion of its owner, so it is deleted again
)

var rows = []row{
	{
		name: "jobset-finished", operator: "jobset", module: "sigs.k8s.io/jobset", bad: "v0.12.0", tags: map[string]string{"v0.12.0": "events"}, known: jobsetLivelock,
		issue: "not reported", kind: "stale cache",
		bug: "the Jobs of a finished JobSet that are active in the cache are deleted: after a restart with a stale cache, finished Jobs are lost, and the status counts no successes",
	},
	{
		name: "jobset-recreate", operator: "jobset", module: "sigs.k8s.io/jobset", bad: "v0.10.1", fixed: "v0.12.0", tags: map[string]string{"v0.12.0": "events"},
		issue: "kubernetes-sigs/jobset#1167", kind: "stale cache", known: jobsetStatus + "\n" + jobsetFinished + "\n" + jobsetLivelock,
		knownAfter: jobsetAgain + "\n" + jobsetService + "\n" + jobsetStale,
		bug:        "a JobSet's Jobs are found by its name: a JobSet that is created again counts the finished Jobs of its predecessor, and never runs its own",
	},
	{
		name: "jobset-service", operator: "jobset", module: "sigs.k8s.io/jobset", bad: "v0.12.0", tags: map[string]string{"v0.12.0": "events"},
		issue: "not reported, also in v0.10.1", kind: "stale cache", known: jobsetFinished + "\n" + jobsetAgain + "\n" + jobsetLivelock,
		bug: "the Service of a deleted JobSet that is still in the cache counts as that of a new JobSet with its name, which has no Service after the garbage collector has deleted it",
	},
	{
		name: "jobset-newest", operator: "jobset", module: "sigs.k8s.io/jobset", bad: "v0.12.0", tags: map[string]string{"v0.12.0": "events"},
		instead: map[string]string{blindColumn: "Jobs of a deleted JobSet, by design"},
		issue:   "—", kind: "—", bug: "no other one is known", known: jobsetFinished + "\n" + jobsetAgain + "\n" + jobsetService + "\n" + jobsetStale + "\n" + jobsetLivelock,
	},
	{
		name: "jobset-status", operator: "jobset", module: "sigs.k8s.io/jobset", bad: "v0.10.1", fixed: "v0.12.0", tags: map[string]string{"v0.12.0": "events"},
		issue: "kubernetes-sigs/jobset#1194", kind: "lost answer", known: "- jobs.batch {\n" + jobsetFinished + "\n" + jobsetLivelock, // the first one is of jobset-recreate
		bug: "the error of a failed status update is dropped unless it is a conflict: a JobSet whose last update fails never finishes",
	},
	{
		name: "kubelet-twice", operator: "kubelet", module: "k8s.io/client-go", bad: "v0.36.3",
		issue: "kubernetes/kubernetes#59848", kind: "stale cache",
		bug: "a kubelet that restarts lists its pods from an API server's cache: it starts a pod of a StatefulSet that already runs on another node",
	},
	{
		name: "kuberay-pods", operator: "kuberay", module: "github.com/ray-project/kuberay/ray-operator", bad: "v1.2.2", fixed: "v1.3.0",
		issue: "ray-project/kuberay#715", kind: "stale cache",
		bug: "the number of pods to create is computed from a cache that lacks the last ones: too many pods start, and some of them are deleted again",
	},
	{
		name: "kuberay-newest", operator: "kuberay", module: "github.com/ray-project/kuberay/ray-operator", bad: "v1.6.1", tags: map[string]string{"v1.6.1": "v15"},
		issue: "—", kind: "—", bug: "none is known",
	},
	{
		name: "lws-edits", operator: "lws", module: "sigs.k8s.io/lws", bad: "v0.7.0", issue: "not reported", kind: "edits", test: "TestTransition",
		bug: "if the subdomainPolicy changes from Shared to UniquePerReplica, the Service of the shared subdomain remains",
	},
	{
		name: "lws-foreground", operator: "lws", module: "sigs.k8s.io/lws", bad: "v0.6.0", fixed: "v0.7.0", tags: map[string]string{"v0.6.0": "v06"},
		issue: "kubernetes-sigs/lws#523", kind: "deletion", known: lwsService,
		knownAfter: lwsForeground + "\n" + lwsRevision + "\n" + lwsStale + "\n" + lwsHistory,
		bug:        "the objects of a LeaderWorkerSet that is being deleted in the foreground are created again, as fast as the garbage collector deletes them",
	},
	{
		name: "lws-newest", operator: "lws", module: "sigs.k8s.io/lws", bad: "v0.9.0", tags: map[string]string{"v0.9.0": "events"},
		instead: map[string]string{blindColumn: "revisions of a deleted StatefulSet, by design"},
		issue:   "—", kind: "—", bug: "no other one is known", known: lwsForeground + "\n" + lwsService + "\n" + lwsRevision + "\n" + lwsStale + "\n" + lwsHistory,
	},
	{
		name: "lws-revision", operator: "lws", module: "sigs.k8s.io/lws", bad: "v0.7.0", issue: "not reported", kind: "crash between two writes",
		known: lwsForeground + "\n" + lwsService + "\n" + lwsStale + "\n" + lwsHistory,
		bug:   "after a crash between the creation of a ControllerRevision and that of the StatefulSet, a second revision is created",
	},
	{
		name: "lws-stale", operator: "lws", module: "sigs.k8s.io/lws", bad: "v0.9.0", tags: map[string]string{"v0.9.0": "events"},
		issue: "not reported, also in v0.7.0", kind: "stale cache",
		known: lwsForeground + "\n" + lwsService + "\n" + lwsRevision + "\n" + lwsHistory,
		bug:   "after a restart with an outdated cache, the StatefulSet gets the replicas of an earlier state, so that a running group is deleted and created again",
	},
	{
		name: "mpi-running", operator: "mpi", module: "github.com/kubeflow/mpi-operator", bad: "v0.6.0",
		issue: "kubeflow/mpi-operator#787, also in v0.8.0", kind: "stale cache",
		known: mpiSuspend + "\n" + mpiUnseen + "\n" + mpiFinished,
		bug:   "if the operator sees the launcher's Job finished while its cache still has a running pod, the condition Running of the MPIJob stays true",
	},
	{
		name: "mpi-newest", operator: "mpi", module: "github.com/kubeflow/mpi-operator", bad: "v0.6.0",
		issue: "—", kind: "—", bug: "no other one is known", known: mpiSuspend + "\n" + mpiUnseen + "\n" + mpiFinished + "\n" + mpiRunning + "\n" + mpiStale,
	},
	{
		name: "mpi-stale", operator: "mpi", module: "github.com/kubeflow/mpi-operator", bad: "v0.6.0",
		issue: "not reported", kind: "stale cache", known: mpiSuspend + "\n" + mpiUnseen + "\n" + mpiFinished + "\n" + mpiRunning,
		bug: "after a restart with an outdated cache, an MPIJob that was resumed is suspended as before, so that its running pods are deleted",
	},
	{
		name: "mpi-suspend", operator: "mpi", module: "github.com/kubeflow/mpi-operator", bad: "v0.6.0",
		issue: "kubeflow/mpi-operator#819, also in v0.8.0", kind: "lost answer",
		bug: "resuming changes the launcher's Job in the cache before the update: if the update fails, the Job stays suspended",
	},
	{
		name: "provisioner", operator: "provisioner", module: "sigs.k8s.io/sig-storage-lib-external-provisioner/v13", bad: "v13.1.0",
		issue: "—", kind: "—", bug: "none is known",
	},
	{
		name: "raycron-name", operator: "raycron", module: "github.com/ray-project/kuberay/ray-operator", bad: "v1.6.1",
		issue: "ray-project/kuberay#4849", kind: "crash between two writes",
		bug: "the name of a RayJob is random, and the time of the last one is stored afterwards: after a crash or with a stale cache, a second RayJob of the same time starts",
	},
	{
		name: "rabbitmq-crash", operator: "rabbitmq", module: "github.com/rabbitmq/cluster-operator", bad: "v1.8.0", fixed: "v1.10.0",
		issue: "rabbitmq/cluster-operator#782, found by Sieve", kind: "crash between two writes",
		known: rabbitmqPanic + "\n" + rabbitmqLate,
		bug:   "whether a disk has to grow is read from the StatefulSet, which is deleted first: after a crash the claim keeps its size",
	},
	{
		name: "rabbitmq-newest", operator: "rabbitmq", module: "github.com/rabbitmq/cluster-operator", bad: "v1.14.0",
		issue: "—", kind: "—", bug: "no other one is known", known: rabbitmqPanic + "\n" + rabbitmqLate,
	},
	{
		name: "rabbitmq-panic", operator: "rabbitmq", module: "github.com/rabbitmq/cluster-operator", bad: "v1.6.0",
		issue: "not reported, also in v1.14.0", kind: "deletion", known: rabbitmqCrash + "\n" + rabbitmqLate,
		bug: "the program panics if the ConfigMap of the plugins is deleted while it reconciles, because it ignores the error Not Found, and uses the missing object",
	},
	{
		name: "rabbitmq-recreate", operator: "rabbitmq", module: "github.com/rabbitmq/cluster-operator", bad: "v1.6.0", fixed: "v1.8.0",
		issue: "rabbitmq/cluster-operator#648, found by Sieve", kind: "stale cache",
		instead: map[string]string{blindColumn: "the StatefulSet deleted once more, because it was stale"},
		known:   rabbitmqCrash + "\n" + rabbitmqPanic + "\n" + rabbitmqLate,
		bug:     "a stale RabbitmqCluster that is being deleted makes the operator delete the StatefulSet of its successor with the same name",
	},
	{
		name: "rabbitmq-shrink", operator: "rabbitmq", module: "github.com/rabbitmq/cluster-operator", bad: "v1.6.0", fixed: "v1.10.0",
		issue: "rabbitmq/cluster-operator#653, found by Sieve", kind: "stale cache",
		known: rabbitmqCrash + "\n" + rabbitmqPanic + "\n" + rabbitmqLate,
		bug:   "a stale RabbitmqCluster with a smaller disk makes the operator delete the StatefulSet, although disks cannot shrink",
	},
	{
		name: "sealedsecrets-status", operator: "sealedsecrets", module: "github.com/bitnami-labs/sealed-secrets", bad: "v0.24.0", fixed: "v0.25.0",
		issue: "bitnami-labs/sealed-secrets#853", kind: "lost answer", files: "pkg/controller",
		instead: map[string]string{afterColumn: "a dropped error"},
		bug:     "the condition Synced of a SealedSecret stays false after a second try has created its Secret, because the status is written once per generation",
	},
	{
		name: "sealedsecrets-tombstone", operator: "sealedsecrets", module: "github.com/bitnami-labs/sealed-secrets", bad: "v0.25.0",
		issue: "not reported, also in v0.40.0", kind: "unobserved event", files: "pkg/controller",
		known: sealedsecretsStatus,
		bug:   "the program panics if its informer learns from a list that a Secret is gone, because the handler expects a Secret and gets a tombstone",
	},
	{
		name: "sealedsecrets-newest", operator: "sealedsecrets", module: "github.com/bitnami-labs/sealed-secrets", bad: "v0.27.1",
		issue: "—", kind: "—", bug: "no other one is known", files: "pkg/controller", known: sealedsecretsStatus + "\n" + sealedsecretsPanic + "\n" + sealedsecretsTries,
	},
	{
		name: "sample", operator: "sample", module: "k8s.io/sample-controller", bad: "v0.36.3", issue: "not reported", kind: "stale cache",
		bug:   "after a restart with an outdated cache, the Deployment gets the replicas of an earlier state of the Foo, so that running pods are deleted",
		files: "controller.go",
	},
	{
		name: "sample-newest", operator: "sample", module: "k8s.io/sample-controller", bad: "v0.36.3",
		issue: "—", kind: "—", bug: "no other one is known", files: "controller.go", known: sampleReplicas,
	},
	{
		name: "sample-edits", operator: "sample", module: "k8s.io/sample-controller", bad: "v0.36.3", issue: "not reported", kind: "edits",
		bug: "if the deploymentName of a Foo changes, its old Deployment remains", files: "controller.go", test: "TestTransition",
	},
	{
		name: "zookeeper-finalizer", operator: "zookeeper", module: "github.com/pravega/zookeeper-operator", bad: "v0.2.15",
		issue: "not reported", kind: "lost answer",
		known: zookeeperMetadata + "\n" + zookeeperOrphan + "\n" + zookeeperSize + "\n" + zookeeperAgain,
		bug:   "if the deletion of a claim fails, the error is only logged and the finalizer is removed: the claim of a deleted ZookeeperCluster remains",
	},
	{
		name: "zookeeper-metadata", operator: "zookeeper", module: "github.com/pravega/zookeeper-operator", bad: "v0.2.15",
		issue: "pravega/zookeeper-operator#506", kind: "crash between two writes",
		known: zookeeperFinalizer + "\n" + zookeeperOrphan + "\n" + zookeeperSize + "\n" + zookeeperAgain,
		bug:   "the znode of a cluster is created before the status says so: if that update fails, the znode exists at each retry, and the cluster never becomes ready",
	},
	{
		name: "zookeeper-newest", operator: "zookeeper", module: "github.com/pravega/zookeeper-operator", bad: "v0.2.15",
		issue: "—", kind: "—", bug: "no other one is known",
		known: zookeeperFinalizer + "\n" + zookeeperMetadata + "\n" + zookeeperOrphan + "\n" + zookeeperSize + "\n" + zookeeperAgain,
	},
	{
		name: "zookeeper-orphan", operator: "zookeeper", module: "github.com/pravega/zookeeper-operator", bad: "v0.2.15",
		issue: "pravega/zookeeper-operator#314, found by Sieve; the fix is only of the StatefulSet", kind: "stale cache",
		known: zookeeperFinalizer + "\n" + zookeeperMetadata + "\n" + zookeeperSize + "\n" + zookeeperAgain,
		bug:   "a stale ZookeeperCluster with fewer replicas makes the operator delete claims that pods use",
	},
	{
		name: "zookeeper-size", operator: "zookeeper", module: "github.com/pravega/zookeeper-operator", bad: "v0.2.15",
		issue: "pravega/zookeeper-operator#569", kind: "crash between two writes",
		known: zookeeperFinalizer + "\n" + zookeeperOrphan + "\n" + zookeeperAgain,
		bug:   "if the number of replicas changes before the operator has created the znode, it requires the znode first and never creates it",
	},
}
