package podspec

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// operatingSystem checks spec.os and that nothing of the other system is set (KEP-2802).
func (r *Rules) operatingSystem() field.ErrorList {
	system, p := r.Spec.At("os"), r.Path.Child("os")
	if system == nil {
		return nil
	}
	switch name := system.String("name"); name {
	case "":
		return field.ErrorList{field.Required(p.Child("name"), "")}
	case "linux":
		return r.linux()
	case "windows":
		return r.windows()
	default:
		return field.MustBeOneOf(p, name, "linux", "windows")
	}
}

func (r *Rules) linux() field.ErrorList {
	const text = "windows options cannot be set for a linux pod"
	var errs field.ErrorList
	if r.Spec.Has("securityContext", "windowsOptions") {
		errs = append(errs, field.Forbidden(r.Path.Child("securityContext", "windowsOptions"), text))
	}
	r.eachContainer(func(c object.Object, p field.Path) {
		if c.Has("securityContext", "windowsOptions") {
			errs = append(errs, field.Forbidden(p.Child("securityContext", "windowsOptions"), text))
		}
	})
	return errs
}

// What a pod and a container on Windows may not have, in the order of the server's checks.
var (
	notOnWindows = []string{"securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID", "hostIPC",
		"securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy", "securityContext.sysctls",
		"shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup", "securityContext.supplementalGroups",
		"securityContext.supplementalGroupsPolicy", "securityContext.seLinuxChangePolicy"}
	notInWindowsContainers = []string{"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
		"privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"}
)

func (r *Rules) windows() field.ErrorList {
	const text = "cannot be set for a windows pod"
	var errs field.ErrorList
	for _, name := range notOnWindows {
		path := object.Path(name)
		host := name == "hostPID" || name == "hostIPC"
		if r.Spec.Has(path...) && (!host || r.Spec.True(name)) {
			errs = append(errs, field.Forbidden(r.Path.Child(path...), text))
		}
	}
	r.eachContainer(func(c object.Object, p field.Path) {
		for _, name := range notInWindowsContainers {
			if c.Has("securityContext", name) {
				errs = append(errs, field.Forbidden(p.Child("securityContext", name), text))
			}
		}
	})
	return errs
}

// hostProcess checks that a pod on Windows whose containers are processes of the host has only such containers (KEP-1981).
func (r *Rules) hostProcess() field.ErrorList {
	path := []string{"securityContext", "windowsOptions", "hostProcess"}
	whole, set := r.Spec.Bool(path...)
	all, host := 0, 0
	var errs field.ErrorList
	r.eachContainer(func(c object.Object, p field.Path) {
		all++
		own, ok := c.Bool(path...)
		if set && ok && whole != own {
			errs = append(errs, field.Invalid(p.Child(path...), own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", whole)))
		}
		if ok && own || !ok && whole {
			host++
		}
	})
	if host == 0 {
		return errs
	}
	if host != all {
		errs = append(errs, field.Invalid(r.Path, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if !r.Spec.True("hostNetwork") {
		errs = append(errs, field.Invalid(r.Path.Child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
	if r.ctx.NoPrivileged {
		errs = append(errs, field.Forbidden(r.Path, "hostProcess containers are disallowed by cluster policy"))
	}
	return errs
}

const (
	credentialSpecMax    = 64 << 10
	windowsUserDomainMax = 256
	windowsUserMax       = 104
)

var (
	controlCharacters    = regexp.MustCompile(`[[:cntrl:]]+`)
	netBIOSName          = regexp.MustCompile(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	windowsDomain        = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	windowsUserForbidden = regexp.MustCompile(`["/\\:;|=,\+\*\?<>@\[\]]`)
	dotsAndSpaces        = regexp.MustCompile(`^[\. ]+$`)
)

func windowsOptions(o object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.Has("gmsaCredentialSpecName") {
		name := o.String("gmsaCredentialSpecName")
		errs = append(errs, field.Messages(p.Child("gmsaCredentialSpecName"), field.Enum(name), field.DNS1123Subdomain(name))...)
	}
	if o.Has("gmsaCredentialSpec") {
		spec := o.String("gmsaCredentialSpec")
		if spec == "" {
			errs = append(errs, field.Invalid(p.Child("gmsaCredentialSpec"), field.Enum(spec), "gmsaCredentialSpec cannot be an empty string"))
		} else if len(spec) > credentialSpecMax {
			errs = append(errs, field.Invalid(p.Child("gmsaCredentialSpec"), field.Enum(spec), "gmsaCredentialSpec size must be under 64 KiB"))
		}
	}
	if o.Has("runAsUserName") {
		name := o.String("runAsUserName")
		for _, text := range windowsUserName(name) {
			errs = append(errs, field.Invalid(p.Child("runAsUserName"), field.Enum(name), text))
		}
	}
	return errs
}

// windowsUserName returns what is wrong with the name of a Windows user, such as user or DOMAIN\user.
func windowsUserName(name string) []string {
	switch {
	case name == "":
		return []string{"runAsUserName cannot be an empty string"}
	case controlCharacters.MatchString(name):
		return []string{"runAsUserName cannot contain control characters"}
	case strings.Count(name, `\`) > 1:
		return []string{"runAsUserName cannot contain more than one backslash"}
	}
	domain, user, prefixed := strings.Cut(name, `\`)
	if !prefixed {
		domain, user = "", name
	}
	var msgs []string
	if len(domain) >= windowsUserDomainMax {
		msgs = append(msgs, fmt.Sprintf("runAsUserName's Domain length must be under %d characters", windowsUserDomainMax))
	}
	if prefixed && !netBIOSName.MatchString(domain) && !windowsDomain.MatchString(domain) {
		msgs = append(msgs, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	if user == "" {
		msgs = append(msgs, "runAsUserName's User cannot be empty")
	} else if len(user) > windowsUserMax {
		msgs = append(msgs, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", windowsUserMax))
	}
	if dotsAndSpaces.MatchString(user) {
		msgs = append(msgs, "runAsUserName's User cannot contain only periods or spaces")
	}
	if windowsUserForbidden.MatchString(user) {
		msgs = append(msgs, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return msgs
}

// AppArmorOf returns the profile that an annotation means, or nil.
func AppArmorOf(annotation string) map[string]any {
	path, local := strings.CutPrefix(annotation, "localhost/")
	switch {
	case annotation == "unconfined":
		return map[string]any{"type": "Unconfined"}
	case annotation == "runtime/default":
		return map[string]any{"type": "RuntimeDefault"}
	case local && path != "" && path == strings.TrimSpace(path) && len(path) <= localhostProfileMax:
		return map[string]any{"type": "Localhost", "localhostProfile": path}
	}
	return nil
}
