package admission

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// The checks of all pod fields except security contexts.

func findHostNamespaces(p evaluatedPod) finding {
	var used []string
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if p.pod.True("spec", name) {
			used = append(used, name+"=true")
		}
	}
	return finding{detail: strings.Join(used, ", ")}
}

func findHostPaths(p evaluatedPod) finding {
	names, _ := p.volumes(func(volume map[string]any) string {
		if volume["hostPath"] == nil {
			return ""
		}
		return "hostPath"
	})
	if len(names) == 0 {
		return finding{}
	}
	return finding{detail: numbered("volume", len(names)) + " " + listed(names)}
}

// volumes returns the names of the volumes with a forbidden type, and these types.
func (p evaluatedPod) volumes(badKind func(volume map[string]any) string) (names, kinds []string) {
	for _, volume := range p.pod.Objects("spec", "volumes") {
		if kind := badKind(volume); kind != "" {
			names, kinds = append(names, volume.String("name")), append(kinds, kind)
		}
	}
	return names, sorted(kinds)
}

// The volume types that restricted pods may use, and the forbidden types that errors name.
var (
	allowedVolumes   = strings.Fields("configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret")
	forbiddenVolumes = strings.Fields("hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder " +
		"cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos")
)

func findVolumes(p evaluatedPod) finding {
	names, kinds := p.volumes(func(volume map[string]any) string {
		given := func(kind string) bool { return volume[kind] != nil }
		if slices.ContainsFunc(allowedVolumes, given) {
			return ""
		}
		if i := slices.IndexFunc(forbiddenVolumes, given); i >= 0 {
			return forbiddenVolumes[i]
		}
		return "unknown"
	})
	if len(names) == 0 {
		return finding{}
	}
	return finding{detail: numbered("volume", len(names)) + " " + listed(names) + " " + verb("use", len(names)) + " " +
		numbered("restricted volume type", len(kinds)) + " " + listed(kinds)}
}

// using returns a finding that names the containers, and the items that they must not use. print formats the items.
func using(b *violators, noun string, things []string, print func([]string) string) finding {
	things = sorted(things)
	return b.says(verb("use", len(b.containers)) + " " + numbered(noun, len(things)) + " " + print(things))
}

func findHostPorts(p evaluatedPod) finding {
	var used []string
	b := &violators{}
	for _, c := range p.containers() {
		before := len(used)
		for _, port := range c.Objects("ports") {
			if n := port.Int64("hostPort"); n != 0 {
				used = append(used, strconv.FormatInt(n, 10))
			}
		}
		b.of(c, len(used) == before)
	}
	return using(b, "hostPort", used, func(ports []string) string { return strings.Join(ports, ", ") })
}

func findProbeHosts(p evaluatedPod) finding {
	var used []string
	b := &violators{}
	for _, c := range p.containers() {
		before := len(used)
		for _, at := range []string{"livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"} {
			for _, way := range []string{"httpGet", "tcpSocket"} {
				if host := c.String(append(object.Path(at), way, "host")...); host != "" {
					used = append(used, host)
				}
			}
		}
		b.of(c, len(used) == before)
	}
	b.containers = sorted(b.containers)
	return using(b, "probe or lifecycle host", used, listed)
}

// safeSysctls are the allowed sysctls, each with the first version that allows it.
var safeSysctls = map[string]int{
	"kernel.shm_rmid_forced": 0, "net.ipv4.ip_local_port_range": 0, "net.ipv4.tcp_syncookies": 0,
	"net.ipv4.ping_group_range": 0, "net.ipv4.ip_unprivileged_port_start": 0, "net.ipv4.ip_local_reserved_ports": 27,
	"net.ipv4.tcp_keepalive_time": 29, "net.ipv4.tcp_fin_timeout": 29, "net.ipv4.tcp_keepalive_intvl": 29,
	"net.ipv4.tcp_keepalive_probes": 29, "net.ipv4.tcp_rmem": 32, "net.ipv4.tcp_wmem": 32,
}

func findSysctls(p evaluatedPod) finding {
	var bad []string
	for _, sysctl := range p.pod.Objects("spec", "securityContext", "sysctls") {
		name := sysctl.String("name")
		if since, ok := safeSysctls[name]; !ok || p.minor < since {
			bad = append(bad, name)
		}
	}
	return finding{detail: strings.Join(bad, ", ")}
}
