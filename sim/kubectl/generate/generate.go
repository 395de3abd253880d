// Package generate creates the objects of the commands create, run, expose and autoscale from flags.
//
//	flags, NAME, files ─ Input ─ Generator.Make ─▶ object
package generate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/object"
)

// Input is the input of a generator.
type Input struct {
	*flags.Set
	Name     string // the NAME argument
	Server   Server
	Files    Files
	Warnings io.Writer
}

// Server provides resources and objects.
type Server interface {
	// Find returns the resource that text names.
	Find(text string) (*client.Mapping, error)
	// Object returns the object with the name TYPE/NAME.
	Object(name string) (*client.Info, error)
}

// Files provides the files that flags name.
type Files interface {
	ReadFile(name string) ([]byte, error)
}

// Generator is a subcommand of create.
type Generator struct {
	Name, Aliases string
	Help          string
	Flags         string // the flags of this command only
	Noun          string // in the prefix of server errors, with its punctuation; "" for no prefix
	Make          func(in *Input) (object.Object, error)
	Sub           []Generator
}

// Generators lists the subcommands of create in the order of its help.
var Generators = []Generator{
	{Name: "clusterrole", Help: "Create a cluster role", Make: clusterRole,
		Flags: "verb, resource* resource-name* non-resource-url, aggregation-rule,"},
	{Name: "clusterrolebinding", Help: "Create a cluster role binding for a particular cluster role", Noun: "clusterrolebinding:", Make: clusterRoleBinding,
		Flags: "clusterrole! user* group* serviceaccount*"},
	{Name: "configmap", Aliases: "cm", Help: "Create a config map from a local file, directory or literal value", Noun: "configmap:", Make: configMap,
		Flags: "from-file* from-literal* from-env-file* append-hash?"},
	{Name: "cronjob", Aliases: "cj", Help: "Create a cron job with the specified name", Noun: "cronjob:", Make: cronJob,
		Flags: "image! schedule! restart"},
	{Name: "deployment", Aliases: "deploy", Help: "Create a deployment with the specified name", Noun: "deployment:", Make: deployment,
		Flags: "image*! replicas|r# port#"},
	{Name: "ingress", Aliases: "ing", Help: "Create an ingress with the specified name", Noun: "ingress:", Make: ingress,
		Flags: "class rule* default-backend annotation*"},
	{Name: "job", Help: "Create a job with the specified name", Noun: "job:", Make: job, Flags: "image from"},
	{Name: "namespace", Aliases: "ns", Help: "Create a namespace with the specified name", Make: namespace},
	{Name: "poddisruptionbudget", Aliases: "pdb", Help: "Create a pod disruption budget with the specified name", Noun: "poddisruptionbudgets:",
		Make: disruptionBudget, Flags: "selector min-available max-unavailable"},
	{Name: "priorityclass", Aliases: "pc", Help: "Create a priority class with the specified name", Noun: "priorityclass:", Make: priorityClass,
		Flags: "value# global-default? description preemption-policy"},
	{Name: "quota", Aliases: "resourcequota", Help: "Create a quota with the specified name", Noun: "quota:", Make: quota, Flags: "hard scopes"},
	{Name: "role", Help: "Create a role with single rule", Make: role, Flags: "verb, resource* resource-name*"},
	{Name: "rolebinding", Help: "Create a role binding for a particular role or cluster role", Noun: "rolebinding:", Make: roleBinding,
		Flags: "clusterrole role user* group* serviceaccount*"},
	{Name: "secret", Help: "Create a secret using a specified subcommand", Sub: []Generator{
		{Name: "docker-registry", Help: "Create a secret for use with a Docker registry", Noun: "secret", Make: registrySecret,
			Flags: "docker-server docker-username docker-password docker-email from-file* append-hash?"},
		{Name: "generic", Help: "Create a secret from a local file, directory, or literal value", Noun: "secret", Make: genericSecret,
			Flags: "from-file* from-literal* from-env-file* type append-hash?"},
		{Name: "tls", Help: "Create a TLS secret", Noun: "secret", Make: tlsSecret, Flags: "cert key append-hash?"},
	}},
	{Name: "service", Aliases: "svc", Help: "Create a service using a specified subcommand", Sub: []Generator{
		{Name: "clusterip", Help: "Create a ClusterIP service", Noun: "ClusterIP service:", Make: service("ClusterIP"), Flags: "tcp, clusterip"},
		{Name: "externalname", Help: "Create an ExternalName service", Noun: "ExternalName service:", Make: service("ExternalName"),
			Flags: "tcp, external-name!"},
		{Name: "loadbalancer", Help: "Create a LoadBalancer service", Noun: "LoadBalancer service:", Make: service("LoadBalancer"), Flags: "tcp,"},
		{Name: "nodeport", Help: "Create a NodePort service", Noun: "NodePort service:", Make: service("NodePort"), Flags: "tcp, node-port#"},
	}},
	{Name: "serviceaccount", Aliases: "sa", Help: "Create a service account with the specified name", Noun: "serviceaccount:", Make: serviceAccount},
}

// made returns an object that has only an apiVersion, a kind and a name.
func made(apiVersion, kind, name string) object.Object {
	return object.Object{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
}

// fill sets fields to the values of given flags. names contains pairs of a flag and a field.
func fill(fields map[string]any, f *flags.Set, names ...string) {
	for i := 0; i+1 < len(names); i += 2 {
		if v := f.Text(names[i]); v != "" {
			fields[names[i+1]] = v
		}
	}
}

// command returns the arguments after a double dash.
func (in *Input) command() []any {
	if in.Dash < 0 {
		return nil
	}
	return object.FromStrings(in.Args[in.Dash:])
}

func namespace(in *Input) (object.Object, error) { return made("v1", "Namespace", in.Name), nil }

func serviceAccount(in *Input) (object.Object, error) {
	return made("v1", "ServiceAccount", in.Name), nil
}

// Labels parses labels such as "a=b,c=d". It returns an error if a part has no "=".
func Labels(text string) (map[string]any, error) {
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

// intOrText returns text as a number if it is one, or as a string.
func intOrText(text string) any {
	if v, err := object.ParseValue([]byte(text)); err == nil && !slices.Contains([]string{"true", "false", "null"}, text) && !strings.HasPrefix(text, `"`) {
		return v
	}
	return text
}
