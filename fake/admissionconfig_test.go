package fake_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// configured writes a configuration of plugins to a file for --admission-control-config-file and returns the file's
// name.
func configured(t *testing.T, plugins string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "admission.yaml")
	is.New(t).NoErr(os.WriteFile(file, []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"+plugins), 0o600))
	return file
}

// TestAdmissionConfigOfPlugins checks the effect of the configuration of plugins. The expected responses are those of a
// real server with the same file.
func TestAdmissionConfigOfPlugins(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{AdmissionConfig: configured(t, `
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline, warn: restricted}
    exemptions: {namespaces: [exempt], runtimeClasses: [kata]}
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - {resource: persistentvolumeclaims, matchContains: [requests.storage]}
    - resource: pods
      matchScopes: [{scopeName: PriorityClass, operator: In, values: [system-cluster-critical]}]
`)})
	c := client{t, srv}
	const core = "/api/v1/namespaces"
	for name, labels := range map[string]string{"plain": "{}", "exempt": "{}", "open": `{"pod-security.kubernetes.io/enforce":"privileged"}`} {
		c.must("POST", core, `{"metadata":{"name":"`+name+`","labels":`+labels+`}}`)
	}
	c.must("POST", "/apis/node.k8s.io/v1/runtimeclasses", `{"metadata":{"name":"kata"},"handler":"kata"}`)
	create := func(path, spec string) (string, string) {
		_, header, body := c.exchange("POST", core+"/"+path, `{"metadata":{"generateName":"x"},"spec":`+spec+`}`)
		return message(body), strings.Join(header["Warning"], "\n")
	}
	const container, host = `"containers":[{"name":"c","image":"i"}]`, `"hostNetwork":true,`
	text, _ := create("plain/pods", `{`+host+container+`}`)
	is.True(strings.HasSuffix(text, `is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`))
	_, warning := create("plain/pods", `{`+container+`}`)
	is.True(strings.HasPrefix(warning, `299 - "would violate PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false`))
	for _, pod := range []string{"open/pods", "exempt/pods"} {
		text, _ = create(pod, `{`+host+container+`}`)
		is.Equal(text, "")
	}
	text, warning = create("plain/pods", `{`+host+`"runtimeClassName":"kata",`+container+`}`)
	is.Equal(text+warning, "")
	_, header, _ := c.ask("PATCH", core+"/exempt", "application/merge-patch+json", "",
		`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted","pod-security.kubernetes.io/warn":"baseline"}}}`)
	is.Equal(header.Get("Warning"), `299 - "namespace \"exempt\" is exempt from Pod Security, and the policy (enforce=restricted:latest, warn=baseline:latest) will be ignored"`)

	const claim = `{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}`
	text, _ = create("open/persistentvolumeclaims", claim)
	is.True(strings.HasSuffix(text, "is forbidden: insufficient quota to consume: requests.storage"))
	_, body := c.do("POST", core+"/open/pods", `{"metadata":{"name":"x"},"spec":{"priorityClassName":"system-cluster-critical",`+container+`}}`)
	is.True(strings.Contains(body, `"message":"insufficient quota to match these scopes: [{PriorityClass In [system-cluster-critical]}]","code":500`))
	const limits = `{"hard":{"requests.storage":"1Gi"},"used":{"requests.storage":"0"}}`
	c.must("POST", core+"/open/resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"requests.storage":"1Gi"}}}`)
	c.must("PUT", core+"/open/resourcequotas/q/status", `{"metadata":{"name":"q"},"status":`+limits+`}`)
	text, _ = create("open/persistentvolumeclaims", claim)
	is.Equal(text, "") // a quota covers it now
	text, _ = create("open/persistentvolumeclaims", claim)
	is.True(strings.Contains(text, "exceeded quota: q"))
}

// TestAdmissionConfigRefused checks that configuring an unsupported plugin is an error. A server that ignored the
// configuration would admit objects that it should reject.
func TestAdmissionConfigRefused(t *testing.T) {
	for plugins, want := range map[string]string{
		"- name: EventRateLimit\n  configuration: {kind: Configuration, limits: []}":                                               "the configuration of the plugin EventRateLimit: kubesim does not support this plugin: remove it",
		"- name: ImagePolicyWebhook\n  configuration: {imagePolicy: {}}":                                                           "the configuration of the plugin ImagePolicyWebhook: kubesim does not support this plugin: remove it",
		"- name: PodSecurity\n  configuration: {kind: PodSecurityConfiguration, defaults: {enforce: x}}":                           `defaults.enforce: Invalid value: "x": must be one of privileged, baseline, restricted`,
		"- name: PodSecurity\n  configuration: {kind: PodSecurityConfiguration, default: {}}":                                      `unknown field "default"`,
		"- name: PodSecurity\n  configuration: {kind: PodSecurityConfiguration, exemptions: {namespaces: [a, a]}}":                 `exemptions.namespaces[1]: Duplicate value: "a"`,
		"- name: PodSecurity\n  configuration: {kind: PodSecurityConfiguration, exemptions: {usernames: ['']}}":                    `exemptions.usernames[0]: Invalid value: "": username must not be empty`,
		"- name: ResourceQuota\n  configuration: {kind: PodSecurityConfiguration}":                                                 `it is of kind "PodSecurityConfiguration", not ResourceQuotaConfiguration`,
		"- name: ResourceQuota\n  configuration: {kind: ResourceQuotaConfiguration, limitedResources: [{resource: pods, max: 3}]}": `unknown field "max"`,
	} {
		_, err := fake.New(fake.Options{AdmissionConfig: configured(t, plugins)})
		is := is.New(t)
		is.True(err != nil)
		is.True(strings.Contains(err.Error(), want)) // want
	}
}
