package kubectl

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/kubectl/generate"
)

// verb is a command, such as get, or a subcommand, such as rollout status.
type verb struct {
	name    string
	aliases string // separated by spaces
	help    string // one sentence
	flags   string // parsed by flags.Of
	run     func(c *call) error
	sub     []verb
}

// These are groups of flags that several verbs share.
const (
	everywhere = "namespace|n as as-group* as-uid context cluster user kubeconfig server|s token request-timeout help|h? v|v# " +
		"certificate-authority client-certificate client-key insecure-skip-tls-verify? tls-server-name cache-dir " +
		"disable-compression? match-server-version? warnings-as-errors? profile profile-output log-flush-frequency@ vmodule kuberc as-user-extra*"
	printed   = " output|o template allow-missing-template-keys? show-managed-fields?"
	ofFiles   = " filename|f, kustomize|k recursive|R?"
	selecting = " selector|l field-selector all?"
	dry       = " dry-run~ field-manager"
	creating  = " save-config? validate~" + dry + printed
	labeling  = "overwrite? list? local? resource-version record? all-namespaces|A?" + selecting + dry + printed + ofFiles
	setting   = " local? record? all?" + dry + printed + ofFiles
	rolling   = " selector|l field-manager" + printed + ofFiles
)

// verbs lists the verbs of kubectl in the order of its help, which is also the order of suggestions. Help, completion and the
// parser use this list.
var verbs = []verb{
	{name: "create", help: "Create a resource from a file or from stdin", run: runCreate,
		flags: "edit? raw selector|l windows-line-endings?" + creating + ofFiles,
		sub: append(generatorVerbs(generate.Generators), verb{name: "token", help: "Request a service account token", run: runCreateToken,
			flags: "audience* bound-object-kind bound-object-name bound-object-uid duration@ output|o"})},
	{name: "expose", help: "Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service", run: runExpose,
		flags: "port target-port name type protocol selector labels|l cluster-ip external-ip session-affinity load-balancer-ip overrides override-type save-config?" +
			dry + printed + ofFiles},
	{name: "run", help: "Run a particular image on the cluster", run: runRun,
		flags: "image! port labels|l env* restart command? overrides override-type expose? attach? stdin|i? tty|t? rm? quiet|q? annotations* " +
			"image-pull-policy privileged? leave-stdin-open? pod-running-timeout@ grace-period# timeout@ force? wait? cascade~ save-config?" +
			dry + printed + ofFiles},
	{name: "set", help: "Set specific features on objects", sub: []verb{
		{name: "env", help: "Update environment variables on a pod template", run: runSetEnv,
			flags: "env|e* from prefix keys, list? resolve? overwrite? containers|c selector|l" + setting},
		{name: "image", help: "Update the image of a pod template", run: runSetImage, flags: "selector|l" + setting},
		{name: "resources", help: "Update resource requests/limits on objects with pod templates", run: runSetResources, flags: "limits requests containers|c selector|l" + setting},
		{name: "selector", help: "Set the selector on a resource", run: runSetSelector, flags: "resource-version" + setting},
		{name: "serviceaccount", aliases: "sa", help: "Update the service account of a resource", run: runSetServiceAccount, flags: setting},
		{name: "subject", help: "Update the user, group, or service account in a role binding or cluster role binding", run: runSetSubject,
			flags: "user* group* serviceaccount* selector|l" + setting},
	}},
	{name: "explain", help: "Get documentation for a resource", run: runExplain, flags: "recursive? api-version output"},
	{name: "get", help: "Display one or many resources", run: runGet,
		flags: "all-namespaces|A? chunk-size# field-selector ignore-not-found? label-columns|L, no-headers? output-watch-events? raw " +
			"selector|l server-print? show-kind? show-labels? sort-by subresource watch|w? watch-only?" + printed + ofFiles},
	{name: "edit", help: "Edit a resource on the server", run: runEdit,
		flags: "output-patch? save-config? subresource validate~ windows-line-endings? field-manager" + printed + ofFiles},
	{name: "delete", help: "Delete resources by file names, stdin, resources and names, or by resources and label selector", run: runDelete,
		flags: "all? all-namespaces|A? cascade~ force? grace-period# ignore-not-found? interactive|i? now? raw timeout@ wait? " +
			"selector|l field-selector output|o dry-run~" + ofFiles},
	{name: "rollout", help: "Manage the rollout of a resource", sub: []verb{
		{name: "history", help: "View rollout history", run: runRolloutHistory, flags: "revision#" + rolling},
		{name: "pause", help: "Mark the provided resource as paused", run: runRolloutPause, flags: rolling},
		{name: "restart", help: "Restart a resource", run: runRolloutRestart, flags: rolling},
		{name: "resume", help: "Resume a paused resource", run: runRolloutResume, flags: rolling},
		{name: "status", help: "Show the status of the rollout", run: runRolloutStatus, flags: "revision# timeout@ watch|w?" + rolling},
		{name: "undo", help: "Undo a previous rollout", run: runRolloutUndo, flags: "to-revision# dry-run~" + rolling},
	}},
	{name: "scale", help: "Set a new size for a deployment, replica set, or replication controller", run: runScale,
		flags: "replicas#! current-replicas# resource-version timeout@ selector|l all? dry-run~ record?" + printed + ofFiles},
	{name: "autoscale", help: "Auto-scale a deployment, replica set, stateful set, or replication controller", run: runAutoscale,
		flags: "min# max#! cpu memory cpu-percent# name save-config?" + dry + printed + ofFiles},
	{name: "certificate", help: "Modify certificate resources", sub: []verb{
		{name: "approve", help: "Approve a certificate signing request", run: runCertificateApprove, flags: "force?" + printed + ofFiles},
		{name: "deny", help: "Deny a certificate signing request", run: runCertificateDeny, flags: "force?" + printed + ofFiles},
	}},
	{name: "cluster-info", help: "Display cluster information", run: runClusterInfo, sub: []verb{
		{name: "dump", help: "Dump relevant information for debugging and diagnosis", run: unsimulated("kubectl get -A -o json prints objects")},
	}},
	{name: "top", help: "Display resource (CPU/memory) usage", sub: []verb{
		{name: "node", aliases: "nodes no", help: "Display resource (CPU/memory) usage of nodes", run: runTopNode,
			flags: "no-headers? sort-by selector|l show-capacity? use-protocol-buffers?"},
		{name: "pod", aliases: "pods po", help: "Display resource (CPU/memory) usage of pods", run: runTopPod,
			flags: "all-namespaces|A? containers? no-headers? sort-by selector|l field-selector sum? use-protocol-buffers?"},
	}},
	{name: "cordon", help: "Mark node as unschedulable", run: runCordon, flags: "selector|l dry-run~"},
	{name: "uncordon", help: "Mark node as schedulable", run: runUncordon, flags: "selector|l dry-run~"},
	{name: "drain", help: "Drain node in preparation for maintenance", run: runDrain,
		flags: "selector|l dry-run~ force? ignore-daemonsets? delete-emptydir-data? grace-period# timeout@ disable-eviction? pod-selector " +
			"skip-wait-for-delete-timeout# chunk-size#"},
	{name: "taint", help: "Update the taints on one or more nodes", run: runTaint, flags: "overwrite? all? selector|l validate~" + dry + printed},
	{name: "describe", help: "Show details of a specific resource or group of resources", run: runDescribe,
		flags: "all-namespaces|A? selector|l show-events? chunk-size#" + ofFiles},
	{name: "logs", help: "Print the logs for a container in a pod", run: runLogs,
		flags: "container|c follow|f? previous|p? tail# since@ since-time timestamps? limit-bytes# selector|l all-containers? all-pods? prefix? " +
			"max-log-requests# pod-running-timeout@ ignore-errors? insecure-skip-tls-verify-backend?"},
	{name: "attach", help: "Attach to a running container", run: runAttach, flags: "container|c stdin|i? tty|t? quiet|q? pod-running-timeout@"},
	{name: "exec", help: "Execute a command in a container", run: runExec,
		flags: "container|c stdin|i? tty|t? quiet|q? filename|f, pod-running-timeout@"},
	{name: "port-forward", help: "Forward one or more local ports to a pod", run: runPortForward, flags: "address, pod-running-timeout@"},
	{name: "proxy", help: "Run a proxy to the Kubernetes API server", run: unsimulated("there is no port here to listen on")},
	{name: "cp", help: "Copy files and directories to and from containers", run: runCopy, flags: "container|c no-preserve? retries#"},
	{name: "auth", help: "Inspect authorization", sub: []verb{
		{name: "can-i", help: "Check whether an action is allowed", run: runCanI, flags: "all-namespaces|A? list? no-headers? quiet|q? subresource"},
		{name: "whoami", help: "Experimental: Check self subject attributes", run: runWhoAmI, flags: printed},
	}},
	{name: "debug", help: "Create debugging sessions for troubleshooting workloads and nodes", run: runDebug,
		flags: "image container|c copy-to target profile stdin|i? tty|t? attach? env* quiet|q? replace? same-node? share-processes? set-image*" + ofFiles},
	{name: "events", help: "List events", run: runEvents, flags: "all-namespaces|A? for types, watch|w? no-headers? chunk-size#" + printed},
	{name: "diff", help: "Diff the live version against a would-be applied version", run: runDiff,
		flags: "server-side? force-conflicts? prune? show-managed-fields? concurrency# selector|l field-manager" + ofFiles},
	{name: "apply", help: "Apply a configuration to a resource by file name or stdin", run: runApply,
		flags: "server-side? force-conflicts? prune? prune-allowlist* all? cascade~ force? grace-period# timeout@ wait? overwrite? " +
			"validate~ openapi-patch? selector|l" + dry + printed + ofFiles,
		sub: []verb{
			{name: "view-last-applied", help: "View the latest last-applied-configuration annotations of a resource/object", run: runViewLastApplied,
				flags: "selector|l all? output|o" + ofFiles},
		}},
	{name: "patch", help: "Update fields of a resource", run: runPatch, flags: "patch|p patch-file type local? record? subresource" + dry + printed + ofFiles},
	{name: "replace", help: "Replace a resource by file name or stdin", run: runReplace,
		flags: "force? cascade~ grace-period# timeout@ wait? raw save-config? subresource validate~" + dry + printed + ofFiles},
	{name: "wait", help: "Experimental: Wait for a specific condition on one or many resources", run: runWait,
		flags: "for* timeout@ all-namespaces|A? local?" + selecting + printed + ofFiles},
	{name: "kustomize", help: "Build a kustomization target from a directory or URL", run: runKustomize, flags: "output|o load-restrictor as-current-user? enable-alpha-plugins? enable-helm? env|e* helm-command helm-api-versions* helm-kube-version mount* network? network-name"},
	{name: "label", help: "Update the labels on a resource", run: runLabel, flags: labeling},
	{name: "annotate", help: "Update the annotations on a resource", run: runAnnotate, flags: labeling},
	{name: "alpha", help: "Commands for features in alpha", run: runAlpha},
	{name: "completion", help: "Output shell completion code for the specified shell", run: unsimulated("the line that you type is completed already")},
	{name: "api-resources", help: "Print the supported API resources on the server", run: runAPIResources,
		flags: "api-group cached? categories, namespaced? no-headers? output|o sort-by verbs, show-managed-fields?"},
	{name: "api-versions", help: `Print the supported API versions on the server, in the form of "group/version"`, run: runAPIVersions},
	{name: "config", help: "Modify kubeconfig files", sub: []verb{
		{name: "current-context", help: "Display the current-context", run: runCurrentContext},
		{name: "get-clusters", help: "Display clusters defined in the kubeconfig", run: runGetClusters},
		{name: "get-contexts", help: "Describe one or many contexts", run: runGetContexts, flags: "no-headers? output|o"},
		{name: "get-users", help: "Display users defined in the kubeconfig", run: runGetUsers},
		{name: "set-context", help: "Set a context entry in kubeconfig", run: runSetContext, flags: "current?"},
		{name: "use-context", aliases: "use", help: "Set the current-context in a kubeconfig file", run: runUseContext},
		{name: "view", help: "Display merged kubeconfig settings or a specified kubeconfig file", run: runConfigView,
			flags: "flatten? merge? minify? raw?" + printed},
	}},
	{name: "kuberc", help: "Manage user preferences (kuberc) file", run: unsimulated("there are no preferences here")},
	{name: "plugin", help: "Provides utilities for interacting with plugins", run: unsimulated("there are no plugins here")},
	{name: "version", help: "Print the client and server version information", run: runVersion, flags: "client? output|o"},
	{name: "options", help: "Print the list of flags inherited by all commands", run: runOptions},
}

// errUnsimulated returns the error of a command that is not simulated.
func errUnsimulated(why string) error { return fmt.Errorf("this is not simulated: %s", why) }

// unsimulated returns the implementation of a command that is not simulated.
func unsimulated(why string) func(*call) error {
	return func(*call) error { return errUnsimulated(why) }
}

// runAlpha prints that there are no alpha commands, as kubectl 1.36 does.
func runAlpha(c *call) error {
	c.Complain("No alpha commands are available in this version of kubectl")
	return nil
}
