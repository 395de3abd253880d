package admission

import (
	"testing"

	"github.com/matryer/is"
)

func TestPodSecurityTexts(t *testing.T) {
	tests := []struct{ level, pod, want string }{
		{"baseline:latest", `{"containers":[{"name":"c","securityContext":{"privileged":true,"capabilities":{"add":["SYS_ADMIN"]}},"ports":[{"hostPort":80}]}],
			"hostNetwork":true,"hostPID":true,"volumes":[{"name":"h","hostPath":{"path":"/"}}]}`,
			`non-default capabilities (container "c" must not include "SYS_ADMIN" in securityContext.capabilities.add), host namespaces (hostNetwork=true, hostPID=true), ` +
				`hostPath volumes (volume "h"), hostPort (container "c" uses hostPort 80), privileged (container "c" must not set securityContext.privileged=true)`},
		{"restricted:v1.30", `{"containers":[{"name":"c"}]}`,
			`allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ` +
				`unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ` +
				`seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`},
		{"restricted:v1.30", `{"containers":[{"name":"c","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}],
			"securityContext":{"runAsNonRoot":false,"runAsUser":0,"seccompProfile":{"type":"Unconfined"}}}`,
			`runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod must not set runAsUser=0), ` +
				`seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")`},
		{"baseline:latest", `{"securityContext":{"sysctls":[{"name":"kernel.x"},{"name":"net.ipv4.tcp_rmem"}],"windowsOptions":{"hostProcess":true},"seLinuxOptions":{"type":"spc_t","user":"u"}},
			"containers":[{"name":"a","securityContext":{"procMount":"Unmasked","appArmorProfile":{"type":"Unconfined"}},"livenessProbe":{"httpGet":{"host":"h"}}}]}`,
			`forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined"), probe or lifecycle host (container "a" uses probe or lifecycle host "h"), ` +
				`procMount (container "a" must not set securityContext.procMount to "Unmasked"), seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set), ` +
				`forbidden sysctls (kernel.x), hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)`},
		{"baseline:v1.31", `{"securityContext":{"sysctls":[{"name":"net.ipv4.tcp_rmem"}]}}`, `forbidden sysctls (net.ipv4.tcp_rmem)`},
		{"restricted:latest", `{"hostUsers":false,"os":{"name":"windows"},"volumes":[{"name":"v","nfs":{}},{"name":"w","configMap":{}}],"containers":[{"name":"c"}]}`,
			`restricted volume types (volume "v" uses restricted volume type "nfs")`}, // Windows pods and user namespaces are exempt from the rest
		{"privileged:latest", `{"hostNetwork":true}`, ``},
	}
	for _, tt := range tests {
		is := is.New(t)
		level, errs := PodSecurity{}.policy(map[string]string{podSecurityPrefix + "enforce": before(tt.level), podSecurityPrefix + "enforce-version": after(tt.level)})
		is.Equal(len(errs), 0)
		is.Equal(level.enforce.String(), tt.level)
		_, detail := evaluate(level.enforce, parse(t, `{"spec":`+tt.pod+`}`))
		is.Equal(detail, tt.want)
	}
}

func TestPodSecurityOfNamespace(t *testing.T) {
	is := is.New(t)
	objects := stored{}.put(t, pods, `{"metadata":{"name":"a","namespace":"n"},"spec":{"hostNetwork":true}}`,
		`{"metadata":{"name":"b","namespace":"n"},"spec":{"hostNetwork":true}}`, `{"metadata":{"name":"c","namespace":"n"},"spec":{"hostPID":true}}`)
	old := parse(t, `{"metadata":{"name":"n"}}`)
	update := func(labels string) (string, []string) {
		var warnings []string
		a := write(namespaces, parse(t, `{"metadata":{"name":"n","labels":`+labels+`}}`), old, objects)
		a.Warn = func(s string) { warnings = append(warnings, s) }
		return message((&PodSecurity{}).check(a)), warnings
	}
	_, warnings := update(`{"pod-security.kubernetes.io/enforce":"baseline"}`)
	is.Equal(warnings, []string{`existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"`,
		`a (and 2 other pods): host namespaces`}) // the messages of pods with equal violations are merged
	s, _ := update(`{"pod-security.kubernetes.io/enforce":"strict","pod-security.kubernetes.io/warn-version":"1.2"}`)
	is.Equal(s, ` "n" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, `+
		`metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.2": must be "latest" or "v1.x"]`)
}

func TestPodSecurityOfTemplates(t *testing.T) {
	is := is.New(t)
	objects := stored{}.put(t, namespaces, `{"metadata":{"name":"ns","labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
	a := inNamespace("deployments.apps", parse(t, `{"metadata":{"name":"d"},"spec":{"template":{"spec":{"hostIPC":true}}}}`), nil, objects)
	var warnings []string
	a.Warn = func(s string) { warnings = append(warnings, s) }
	is.True((&PodSecurity{}).check(a) == nil) // templates are not rejected
	is.Equal(warnings, []string{`would violate PodSecurity "baseline:latest": host namespaces (hostIPC=true)`})
	pod := inNamespace(pods, parse(t, `{"metadata":{"name":"p"},"spec":{"hostIPC":true}}`), nil, objects)
	is.Equal(message((&PodSecurity{}).check(pod)), `pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostIPC=true)`)
	same := inNamespace(pods, parse(t, `{"metadata":{"name":"p"},"spec":{"hostIPC":true}}`), pod.Object, objects)
	is.True((&PodSecurity{}).check(same) == nil) // an update that changes no image
}

func before(s string) string { return s[:len(s)-len(after(s))-1] }

func after(s string) string {
	for i := range s {
		if s[i] == ':' {
			return s[i+1:]
		}
	}
	return ""
}
