package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// moreGenerators are the commands below create that one needs more rarely.
var moreGenerators = []word{
	{name: "clusterrole", help: "Create a cluster role", run: (*call).createRole,
		flags: "verb, resource* resource-name* non-resource-url, aggregation-rule," + createFlags},
	{name: "clusterrolebinding", help: "Create a cluster role binding for a particular cluster role", run: (*call).createBinding,
		flags: "clusterrole! user* group* serviceaccount*" + createFlags},
	{name: "cronjob", aliases: "cj", help: "Create a cron job with the specified name", run: (*call).createCronJob,
		flags: "image! schedule! restart" + createFlags},
	{name: "ingress", aliases: "ing", help: "Create an ingress with the specified name", run: (*call).createIngress,
		flags: "class rule* default-backend annotation*" + createFlags},
	{name: "job", help: "Create a job with the specified name", run: (*call).createJob, flags: "image from" + createFlags},
	{name: "poddisruptionbudget", aliases: "pdb", help: "Create a pod disruption budget with the specified name", run: (*call).createBudget,
		flags: "selector min-available max-unavailable" + createFlags},
	{name: "priorityclass", aliases: "pc", help: "Create a priority class with the specified name", run: (*call).createPriority,
		flags: "value# global-default? description preemption-policy" + createFlags},
	{name: "quota", aliases: "resourcequota", help: "Create a quota with the specified name", run: (*call).createQuota,
		flags: "hard scopes" + createFlags},
	{name: "role", help: "Create a role with single rule", run: (*call).createRole, flags: "verb, resource* resource-name*" + createFlags},
	{name: "rolebinding", help: "Create a role binding for a particular role or cluster role", run: (*call).createBinding,
		flags: "clusterrole role user* group* serviceaccount*" + createFlags},
	{name: "secret", help: "Create a secret using a specified subcommand", sub: []word{
		{name: "docker-registry", help: "Create a secret for use with a Docker registry", run: (*call).createRegistrySecret,
			flags: "docker-server docker-username docker-password docker-email from-file* append-hash?" + createFlags},
		{name: "generic", help: "Create a secret from a local file, directory, or literal value", run: (*call).createSecret,
			flags: "from-file* from-literal* from-env-file* type append-hash?" + createFlags},
		{name: "tls", help: "Create a TLS secret", run: (*call).createTLSSecret, flags: "cert key append-hash?" + createFlags},
	}},
	{name: "service", aliases: "svc", help: "Create a service using a specified subcommand", sub: []word{
		{name: "clusterip", help: "Create a ClusterIP service", run: (*call).createService, flags: "tcp, clusterip" + createFlags},
		{name: "externalname", help: "Create an ExternalName service", run: (*call).createService, flags: "tcp, external-name!" + createFlags},
		{name: "loadbalancer", help: "Create a LoadBalancer service", run: (*call).createService, flags: "tcp," + createFlags},
		{name: "nodeport", help: "Create a NodePort service", run: (*call).createService, flags: "tcp, node-port#" + createFlags},
	}},
	{name: "token", help: "Request a service account token", run: (*call).createToken,
		flags: "audience* bound-object-kind bound-object-name bound-object-uid duration@ output|o"},
}

// jobSpec returns the spec of a generated Job.
func jobSpec(name, image, restart string, command []any) map[string]any {
	one := container(name, image)
	if len(command) > 0 {
		one["command"] = command
	}
	return map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{one}, "restartPolicy": restart}}}
}

func (c *call) createJob() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	image, from := c.text("image"), c.text("from")
	switch {
	case image == "" && from == "":
		return fmt.Errorf("either --image or --from must be specified")
	case image != "" && from != "":
		return fmt.Errorf("cannot specify both --image and --from")
	case from != "" && c.dash >= 0:
		return fmt.Errorf("cannot specify --from and command")
	case image != "":
		obj := made("batch/v1", "Job", name)
		obj["spec"] = jobSpec(name, image, "Never", c.command())
		return c.createMade(obj, "job")
	}
	t, err := c.one([]string{from})
	if err != nil {
		return err
	}
	if t.m.kind != "CronJob" {
		return fmt.Errorf("from must be an existing cronjob")
	}
	cron, obj := t.obj, made("batch/v1", "Job", name)
	obj["spec"] = object.Copy(cron.Map("spec", "jobTemplate", "spec"))
	annotations := map[string]any{"cronjob.kubernetes.io/instantiate": "manual"}
	for k, v := range object.As(cron.Map("spec", "jobTemplate")).Annotations() {
		annotations[k] = v
	}
	obj.SetMeta("annotations", annotations)
	if labels := cron.Map("spec", "jobTemplate", "metadata", "labels"); labels != nil {
		obj.SetMeta("labels", object.Copy(labels))
	}
	obj.SetMeta("ownerReferences", []any{map[string]any{"apiVersion": cron.APIVersion(), "kind": cron.Kind(), "name": cron.Name(),
		"uid": cron.UID(), "controller": true}})
	return c.createMade(obj, "job")
}

func (c *call) createCronJob() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	restart := c.text("restart")
	if restart == "" {
		restart = "OnFailure"
	}
	obj := made("batch/v1", "CronJob", name)
	obj["spec"] = map[string]any{"schedule": c.text("schedule"), "jobTemplate": map[string]any{"metadata": map[string]any{"name": name},
		"spec": jobSpec(name, c.text("image"), restart, c.command())}}
	return c.createMade(obj, "cronjob")
}

func (c *call) createQuota() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	obj, hard := made("v1", "ResourceQuota", name), map[string]any{}
	for _, pair := range strings.Split(c.text("hard"), ",") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			hard[k] = v
		} else if pair != "" {
			return fmt.Errorf("invalid argument syntax %q, expected <resource>=<value>", pair)
		}
	}
	obj["spec"] = map[string]any{"hard": hard}
	if len(hard) == 0 {
		obj["spec"] = map[string]any{}
	}
	if scopes := c.text("scopes"); scopes != "" {
		obj.Set(object.FromStrings(strings.Split(scopes, ",")), "spec", "scopes")
	}
	return c.createMade(obj, "quota")
}

func (c *call) createBudget() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	least, most := c.text("min-available"), c.text("max-unavailable")
	switch {
	case c.text("selector") == "":
		return fmt.Errorf("a selector must be specified")
	case least == "" && most == "":
		return fmt.Errorf("one of min-available or max-unavailable must be specified")
	case least != "" && most != "":
		return fmt.Errorf("min-available and max-unavailable cannot be both specified")
	}
	labels, err := labelsOf(c.text("selector"))
	if err != nil {
		return err
	}
	obj := made("policy/v1", "PodDisruptionBudget", name)
	obj["spec"] = map[string]any{"selector": map[string]any{"matchLabels": labels}}
	if least != "" {
		obj.Set(intOrText(least), "spec", "minAvailable")
	} else {
		obj.Set(intOrText(most), "spec", "maxUnavailable")
	}
	return c.createMade(obj, "poddisruptionbudgets")
}

func (c *call) createPriority() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	obj := made("scheduling.k8s.io/v1", "PriorityClass", name)
	obj["value"], obj["preemptionPolicy"] = c.number("value", 0), "PreemptLowerPriority"
	if p := c.text("preemption-policy"); p != "" {
		obj["preemptionPolicy"] = p
	}
	if d := c.text("description"); d != "" {
		obj["description"] = d
	}
	if c.on("global-default") {
		obj["globalDefault"] = true
	}
	return c.createMade(obj, "priorityclass")
}

// labelsOf reads a=b,c=d.
func labelsOf(text string) (map[string]any, error) {
	out := map[string]any{}
	for _, pair := range strings.Split(text, ",") {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || strings.HasSuffix(k, "!") {
			return nil, fmt.Errorf("unexpected label spec: %s", pair)
		}
		out[k] = strings.TrimPrefix(v, "=")
	}
	return out, nil
}

// intOrText is a number, or what is none.
func intOrText(text string) any {
	if v, err := object.ParseValue([]byte(text)); err == nil && !slices.Contains([]string{"true", "false", "null"}, text) && !strings.HasPrefix(text, `"`) {
		return v
	}
	return text
}
