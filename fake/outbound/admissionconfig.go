package outbound

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake/kubeconfig"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/object"
)

// AdmissionConfig is a parsed file of kube-apiserver's --admission-control-config-file.
type AdmissionConfig struct {
	Webhooks  Plugins
	Plugins   admission.Config
	Manifests Manifests
}

// ReadAdmissionConfig reads a file of --admission-control-config-file. It returns an error if the file configures an unsupported
// plugin.
func ReadAdmissionConfig(file string) (*AdmissionConfig, error) {
	config, err := kubeconfig.ReadObject(file)
	if err != nil {
		return nil, err
	}
	if config.Kind() != "AdmissionConfiguration" {
		return nil, fmt.Errorf("%s: it is of kind %q, not AdmissionConfiguration", file, config.Kind())
	}
	if err := known(config, "plugins"); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c := &AdmissionConfig{Webhooks: Plugins{}}
	for _, plugin := range config.Objects("plugins") {
		settings := object.Object(plugin.Map("configuration"))
		if path := plugin.String("path"); settings == nil && path != "" {
			if settings, err = kubeconfig.ReadObject(kubeconfig.Path(filepath.Dir(file), path)); err != nil {
				return nil, err
			}
		}
		if settings == nil {
			continue
		}
		if err := c.read(plugin.String("name"), settings); err != nil {
			return nil, fmt.Errorf("%s: the configuration of the plugin %s: %w", file, plugin.String("name"), err)
		}
	}
	return c, nil
}

// read parses the configuration of a plugin. It returns an error if kubesim does not support the plugin or a field.
func (c *AdmissionConfig) read(plugin string, settings object.Object) (err error) {
	kinds := map[string][]string{"MutatingAdmissionWebhook": {"WebhookAdmissionConfiguration", "WebhookAdmission"},
		"ValidatingAdmissionWebhook": {"WebhookAdmissionConfiguration", "WebhookAdmission"},
		"ValidatingAdmissionPolicy":  {"ValidatingAdmissionPolicyConfiguration"},
		"MutatingAdmissionPolicy":    {"MutatingAdmissionPolicyConfiguration"},
		"PodSecurity":                {"PodSecurityConfiguration"}, "ResourceQuota": {"ResourceQuotaConfiguration", "Configuration"}}[plugin]
	if kinds == nil {
		return fmt.Errorf("kubesim does not support this plugin: remove it")
	}
	if !slices.Contains(kinds, settings.Kind()) {
		return fmt.Errorf("it is of kind %q, not %s", settings.Kind(), kinds[0])
	}
	switch plugin {
	case "PodSecurity":
		return c.readPodSecurity(settings)
	case "ResourceQuota":
		return c.readQuota(settings)
	}
	fields := []string{"staticManifestsDir"}
	if strings.HasSuffix(plugin, "Webhook") {
		fields = []string{"kubeConfigFile", "staticManifestsDir"}
	}
	if err := known(settings, fields...); err != nil {
		return err
	}
	if dir := settings.String("staticManifestsDir"); dir != "" {
		if err := c.Manifests.add(plugin, dir); err != nil {
			return err
		}
	}
	if settings.String("kubeConfigFile") == "" {
		return nil
	}
	c.Webhooks[plugin], err = readUsers(settings.String("kubeConfigFile"))
	return err
}

// readPodSecurity parses the defaults for namespaces without labels, and the exemptions.
func (c *AdmissionConfig) readPodSecurity(settings object.Object) error {
	p := &c.Plugins.PodSecurity
	defaults, exemptions := object.Object(settings.Map("defaults")), object.Object(settings.Map("exemptions"))
	for _, err := range []error{known(settings, "defaults", "exemptions"), known(exemptions, "usernames", "namespaces", "runtimeClasses"),
		known(defaults, "enforce", "enforce-version", "audit", "audit-version", "warn", "warn-version")} {
		if err != nil {
			return err
		}
	}
	p.Defaults = map[string]string{}
	for name := range defaults { // order does not matter
		p.Defaults[name] = defaults.String(name)
	}
	p.Usernames, p.Namespaces, p.RuntimeClasses = exemptions.Strings("usernames"), exemptions.Strings("namespaces"), exemptions.Strings("runtimeClasses")
	return p.Check()
}

// readQuota parses the resources whose use requires a matching quota.
func (c *AdmissionConfig) readQuota(settings object.Object) error {
	if err := known(settings, "limitedResources"); err != nil {
		return err
	}
	for _, r := range settings.Objects("limitedResources") {
		if err := known(r, "apiGroup", "resource", "matchContains", "matchScopes"); err != nil {
			return err
		}
		c.Plugins.Limited = append(c.Plugins.Limited, admission.LimitedResource{Group: r.String("apiGroup"), Resource: r.String("resource"),
			Contains: r.Strings("matchContains"), Scopes: r.List("matchScopes")})
	}
	return nil
}

// known returns an error about the first field of an object that is not in fields.
func known(o object.Object, fields ...string) error {
	for _, name := range object.SortedKeys(o) {
		if name != "kind" && name != "apiVersion" && !slices.Contains(fields, name) {
			return fmt.Errorf("strict decoding error: unknown field %q; there are %s", name, strings.Join(fields, ", "))
		}
	}
	return nil
}
