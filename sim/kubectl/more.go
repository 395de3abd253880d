package kubectl

import "slices"

// moreWords are the commands beside those that read, write, create and delete.
var moreWords = slices.Concat(changeWords, rolloutWords, clusterWords, podWords, nodeWords, tailWords, []word{
	{name: "replace", help: "Replace a resource by file name or stdin", run: (*call).replace,
		flags: "force? cascade~ grace-period# timeout@ wait? raw save-config? subresource validate~" + dry + printed + ofFiles},
	{name: "patch", help: "Update fields of a resource", run: (*call).patchWord,
		flags: "patch|p patch-file type local? record? subresource" + dry + printed + ofFiles},
	{name: "edit", help: "Edit a resource on the server", run: (*call).edit,
		flags: "output-patch? save-config? subresource validate~ windows-line-endings? field-manager" + printed + ofFiles},
	{name: "autoscale", help: "Auto-scale a deployment, replica set, stateful set, or replication controller", run: (*call).autoscale,
		flags: "min# max#! cpu memory cpu-percent# name save-config?" + dry + printed + ofFiles},
	{name: "expose", help: "Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service", run: (*call).expose,
		flags: "port target-port name type protocol selector labels|l cluster-ip external-ip session-affinity load-balancer-ip overrides override-type save-config?" +
			dry + printed + ofFiles},
	{name: "diff", help: "Diff the live version against a would-be applied version", run: (*call).diffWord,
		flags: "server-side? force-conflicts? prune? show-managed-fields? concurrency# selector|l field-manager" + ofFiles},
	{name: "set", help: "Set specific features on objects", sub: setWords},
})
