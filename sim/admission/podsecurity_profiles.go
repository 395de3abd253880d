package admission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// seLinuxTypes are the allowed types of SELinux; container_engine_t since 1.31.
var seLinuxTypes = []string{"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}

func seLinuxOptions(p podView) (string, string) {
	allowed := seLinuxTypes
	if p.minor < 31 {
		allowed = allowed[:4]
	}
	var types []string
	var user, role bool
	pod, containers := p.valueAt(func(v any) bool {
		m, _ := v.(map[string]any)
		options, ok := object.Object(m), true
		if t := options.String("type"); !slices.Contains(allowed, t) {
			types, ok = append(types, t), false
		}
		if options.String("user") != "" {
			user, ok = true, false
		}
		if options.String("role") != "" {
			role, ok = true, false
		}
		return ok
	}, "seLinuxOptions")
	who := setters(pod, containers)
	if who == "" {
		return "", ""
	}
	var what []string
	if types = set(types); len(types) > 0 {
		what = append(what, plural("type", "types", len(types))+" "+joinQuote(types))
	}
	if user {
		what = append(what, "user may not be set")
	}
	if role {
		what = append(what, "role may not be set")
	}
	return "seLinuxOptions", who + " set forbidden securityContext.seLinuxOptions: " + strings.Join(what, "; ")
}

const seccompAnnotation = "seccomp.security.alpha.kubernetes.io/pod"

func seccompBaseline(p podView) (string, string) {
	if p.minor < 19 {
		return seccompAnnotations(p)
	}
	who, values := badSeccomp(p)
	if who == "" {
		return "", ""
	}
	return "seccompProfile", who + " must not set securityContext.seccompProfile.type to " + joinQuote(values)
}

// badSeccomp returns who sets a profile that is not allowed, and these profiles.
func badSeccomp(p podView) (who string, values []string) {
	pod, containers := p.valueAt(func(v any) bool {
		m, _ := v.(map[string]any)
		t := object.Object(m).String("type")
		if t == "Localhost" || t == "RuntimeDefault" {
			return true
		}
		values = append(values, t)
		return false
	}, "seccompProfile")
	return setters(pod, containers), set(values)
}

// seccompAnnotations: before 1.19 profiles were annotations.
func seccompAnnotations(p podView) (string, string) {
	given := p.pod.Annotations()
	keys := []string{seccompAnnotation}
	for _, c := range p.containers() {
		keys = append(keys, "container.seccomp.security.alpha.kubernetes.io/"+c.String("name"))
	}
	var bad []string
	for _, key := range keys {
		v, ok := given[key]
		if ok && v != "runtime/default" && v != "docker/default" && !strings.HasPrefix(v, "localhost/") {
			bad = append(bad, fmt.Sprintf("%s=%q", key, v))
		}
	}
	if bad = set(bad); len(bad) == 0 {
		return "", ""
	}
	return "seccompProfile", "forbidden " + plural("annotation", "annotations", len(bad)) + " " + strings.Join(bad, ", ")
}

func seccompRestricted(p podView) (string, string) {
	if p.windows() {
		return "", ""
	}
	if who, values := badSeccomp(p); who != "" {
		return "seccompProfile", who + " must not set securityContext.seccompProfile.type to " + joinQuote(values)
	}
	if p.pod.Map("spec", "securityContext", "seccompProfile") != nil {
		return "", ""
	}
	missing := p.bad(func(c object.Object) bool { return c.Map("securityContext", "seccompProfile") == nil })
	if len(missing) == 0 {
		return "", ""
	}
	return "seccompProfile", "pod or " + named(missing) + ` must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
}

// safeSysctls are the allowed sysctls and the minor version that allowed them.
var safeSysctls = map[string]int{
	"kernel.shm_rmid_forced": 0, "net.ipv4.ip_local_port_range": 0, "net.ipv4.tcp_syncookies": 0,
	"net.ipv4.ping_group_range": 0, "net.ipv4.ip_unprivileged_port_start": 0, "net.ipv4.ip_local_reserved_ports": 27,
	"net.ipv4.tcp_keepalive_time": 29, "net.ipv4.tcp_fin_timeout": 29, "net.ipv4.tcp_keepalive_intvl": 29,
	"net.ipv4.tcp_keepalive_probes": 29, "net.ipv4.tcp_rmem": 32, "net.ipv4.tcp_wmem": 32,
}

func sysctls(p podView) (string, string) {
	var bad []string
	for _, v := range p.pod.List("spec", "securityContext", "sysctls") {
		m, _ := v.(map[string]any)
		name := object.Object(m).String("name")
		if since, ok := safeSysctls[name]; !ok || p.minor < since {
			bad = append(bad, name)
		}
	}
	if len(bad) == 0 {
		return "", ""
	}
	return "forbidden sysctls", strings.Join(bad, ", ")
}

// The volumes that restricted pods may have, and those that have names in the text of a refusal.
var (
	allowedVolumes   = strings.Fields("configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret")
	forbiddenVolumes = strings.Fields("hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder " +
		"cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos")
)

func restrictedVolumes(p podView) (string, string) {
	var names, kinds []string
	for _, v := range p.pod.List("spec", "volumes") {
		volume, _ := v.(map[string]any)
		isSet := func(kind string) bool { return volume[kind] != nil }
		if slices.ContainsFunc(allowedVolumes, isSet) {
			continue
		}
		kind := "unknown"
		if i := slices.IndexFunc(forbiddenVolumes, isSet); i >= 0 {
			kind = forbiddenVolumes[i]
		}
		names, kinds = append(names, object.Object(volume).String("name")), append(kinds, kind)
	}
	if len(names) == 0 {
		return "", ""
	}
	kinds = set(kinds)
	return "restricted volume types", fmt.Sprintf("%s %s %s %s %s", plural("volume", "volumes", len(names)), joinQuote(names),
		plural("uses", "use", len(names)), plural("restricted volume type", "restricted volume types", len(kinds)), joinQuote(kinds))
}

func runAsNonRoot(p podView) (string, string) {
	const reason = "runAsNonRoot != true"
	if p.ownUsers() {
		return "", ""
	}
	pod, containers := p.valueAt(func(v any) bool { return v == true }, "runAsNonRoot")
	if who := setters(pod, containers); who != "" {
		return reason, who + " must not set securityContext.runAsNonRoot=false"
	}
	if all, _ := p.pod.Bool("spec", "securityContext", "runAsNonRoot"); all {
		return "", ""
	}
	missing := p.bad(func(c object.Object) bool { _, ok := c.Bool("securityContext", "runAsNonRoot"); return !ok })
	if len(missing) == 0 {
		return "", ""
	}
	return reason, "pod or " + named(missing) + " must set securityContext.runAsNonRoot=true"
}

func runAsUser(p podView) (string, string) {
	if p.ownUsers() {
		return "", ""
	}
	pod, containers := p.valueAt(func(v any) bool { return v != int64(0) }, "runAsUser")
	if who := setters(pod, containers); who != "" {
		return "runAsUser=0", who + " must not set runAsUser=0"
	}
	return "", ""
}
