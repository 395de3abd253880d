package podspec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// podSecurityContext checks the security settings of the pod as a whole.
func (r *Rules) podSecurityContext() field.ErrorList {
	sc, p := r.Spec.At("securityContext"), r.Path.Child("securityContext")
	var errs field.ErrorList
	for _, name := range []string{"fsGroup", "runAsUser", "runAsGroup"} {
		if id, ok := sc.Int(name); ok {
			errs = append(errs, field.Messages(p.Child(name), id, field.UserID(id))...)
		}
	}
	for i, v := range sc.List("supplementalGroups") {
		id, _ := v.(int64)
		errs = append(errs, field.Messages(p.Child("supplementalGroups").Index(i), id, field.UserID(id))...)
	}
	if r.Spec.True("shareProcessNamespace") && r.Spec.True("hostPID") {
		errs = append(errs, field.Invalid(p.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	errs = append(errs, r.sysctls(p.Child("sysctls"))...)
	if sc.Has("fsGroupChangePolicy") {
		errs = append(errs, field.MustBeOneOf(p.Child("fsGroupChangePolicy"), sc.String("fsGroupChangePolicy"), "Always", "OnRootMismatch")...)
	}
	errs = append(errs, seccompProfile(sc.At("seccompProfile"), p.Child("seccompProfile"))...)
	errs = append(errs, windowsOptions(sc.At("windowsOptions"), p.Child("windowsOptions"))...)
	errs = append(errs, appArmorProfile(sc.At("appArmorProfile"), p.Child("appArmorProfile"))...)
	if sc.Has("supplementalGroupsPolicy") {
		errs = append(errs, field.MustBeOneOf(p.Child("supplementalGroupsPolicy"), sc.String("supplementalGroupsPolicy"), "Merge", "Strict")...)
	}
	if sc.Has("seLinuxChangePolicy") {
		allowed := []string{"Recursive"} // the others wait for the gate SELinuxMount
		if r.Allow.anySELinuxPolicy {
			allowed = []string{"MountOption", "Recursive"}
		}
		errs = append(errs, field.MustBeOneOf(p.Child("seLinuxChangePolicy"), sc.String("seLinuxChangePolicy"), allowed...)...)
	}
	return errs
}

// securityContext checks the security settings of one container.
func (r *Rules) securityContext(c object.Object, p field.Path) field.ErrorList {
	sc := c.At("securityContext")
	if sc == nil {
		return nil
	}
	var errs field.ErrorList
	if r.ctx.NoPrivileged && sc.True("privileged") {
		errs = append(errs, field.Forbidden(p.Child("privileged"), "disallowed by cluster policy"))
	}
	for _, name := range []string{"runAsUser", "runAsGroup"} {
		if id, ok := sc.Int(name); ok {
			errs = append(errs, field.Messages(p.Child(name), id, field.UserID(id))...)
		}
	}
	if sc.Has("procMount") {
		mount := sc.String("procMount")
		errs = append(errs, field.MustBeOneOf(p.Child("procMount"), mount, "Default", "Unmasked")...)
		if mount == "Unmasked" && !inUserNamespace(r.Spec) {
			errs = append(errs, field.Invalid(p.Child("procMount"), mount, "`hostUsers` must be false to use `Unmasked`"))
		}
	}
	errs = append(errs, seccompProfile(sc.At("seccompProfile"), p.Child("seccompProfile"))...)
	if escalate, ok := sc.Bool("allowPrivilegeEscalation"); ok && !escalate {
		if sc.True("privileged") {
			errs = append(errs, field.Invalid(p, gotext.Value("SecurityContext", sc), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
		}
		for _, capability := range sc.Strings("capabilities", "add") {
			if capability == "CAP_SYS_ADMIN" {
				errs = append(errs, field.Invalid(p, gotext.Value("SecurityContext", sc), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
			}
		}
	}
	errs = append(errs, windowsOptions(sc.At("windowsOptions"), p.Child("windowsOptions"))...)
	return append(errs, appArmorProfile(sc.At("appArmorProfile"), p.Child("appArmorProfile"))...)
}

var profileTypes = []string{"Localhost", "RuntimeDefault", "Unconfined"}

func seccompProfile(profile object.Object, p field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	var errs field.ErrorList
	if kind := profile.String("type"); kind == "" {
		errs = append(errs, field.Required(p.Child("type"), "type is required when seccompProfile is set"))
	} else {
		errs = append(errs, field.MustBeOneOf(p.Child("type"), kind, profileTypes...)...)
	}
	at, given := p.Child("localhostProfile"), profile.Has("localhostProfile")
	switch local := profile.String("type") == "Localhost"; {
	case local && !given:
		errs = append(errs, field.Required(at, "must be set when seccomp type is Localhost"))
	case local:
		errs = append(errs, field.Check(at, profile.String("localhostProfile"), field.DescendingPath)...)
	case given:
		errs = append(errs, field.Invalid(at, gotext.Value("SeccompProfile", profile), "can only be set when seccomp type is Localhost"))
	}
	return errs
}

const localhostProfileMax = 4095 // the longest path of a file, without the zero at its end

func appArmorProfile(profile object.Object, p field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	at, name := p.Child("localhostProfile"), profile.String("localhostProfile")
	switch profile.String("type") {
	case "Localhost":
		var errs field.ErrorList
		if trimmed := strings.TrimSpace(name); trimmed != name {
			errs = append(errs, field.Invalid(at, name, "must not be padded with whitespace"))
		} else if name == "" {
			errs = append(errs, field.Required(at, "must be set when AppArmor type is Localhost"))
		}
		if len(name) > localhostProfileMax {
			errs = append(errs, field.TooLong(at, localhostProfileMax))
		}
		return errs
	case "RuntimeDefault", "Unconfined":
		if profile.Has("localhostProfile") {
			return field.ErrorList{field.Invalid(at, field.Enum(name), "can only be set when AppArmor type is Localhost")}
		}
		return nil
	case "":
		return field.ErrorList{field.Required(p.Child("type"), "type is required when appArmorProfile is set")}
	}
	return field.MustBeOneOf(p.Child("type"), profile.String("type"), profileTypes...)
}

const sysctlNameMax = 253

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func (r *Rules) sysctls(p field.Path) field.ErrorList {
	var errs field.ErrorList
	var seen []string
	host := r.hostSysctls()
	for i, s := range r.Spec.Objects("securityContext", "sysctls") {
		at, name := p.Index(i).Child("name"), s.String("name")
		switch {
		case name == "":
			errs = append(errs, field.Required(at, ""))
		case len(name) > sysctlNameMax || !sysctlName.MatchString(name):
			errs = append(errs, field.Invalid(at, name, "must have at most 253 characters and match regex "+sysctlName.String()))
		case slices.Contains(seen, name):
			errs = append(errs, field.Duplicate(at, name))
		}
		if text := host[name]; text != "" && !r.Allow.hostSysctls {
			errs = append(errs, field.Invalid(at, name, text))
		}
		seen = append(seen, name)
	}
	return errs
}

// hostSysctls returns the sysctls of the pod that would change the host, because the pod is in the host's namespace, and
// why.
func (r *Rules) hostSysctls() map[string]string {
	out := map[string]string{}
	for _, s := range r.Spec.Objects("securityContext", "sysctls") {
		switch name := s.String("name"); {
		case r.Spec.True("hostNetwork") && sysctlNamespace(name) == "net":
			out[name] = "may not be specified when 'hostNetwork' is true"
		case r.Spec.True("hostIPC") && sysctlNamespace(name) == "ipc":
			out[name] = "may not be specified when 'hostIPC' is true"
		}
	}
	return out
}

var ipcSysctls = []string{"kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
	"kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"}

// sysctlNamespace returns the Linux namespace of a sysctl (ipc_namespaces(7), network_namespaces(7)): ipc, net or "".
func sysctlNamespace(name string) string {
	if sep := strings.IndexAny(name, "./"); sep >= 0 && name[sep] == '/' { // net/ipv4/conf/eno2.100: '.' and '/' changed places
		name = strings.NewReplacer(".", "/", "/", ".").Replace(name)
	}
	name, _, _ = strings.Cut(name, "*")
	switch {
	case slices.Contains(ipcSysctls, name), strings.HasPrefix(name, "fs.mqueue."):
		return "ipc"
	case strings.HasPrefix(name, "net."):
		return "net"
	}
	return ""
}

// hostUsers checks what a pod in a user namespace may not have (KEP-127).
func (r *Rules) hostUsers() field.ErrorList {
	if !inUserNamespace(r.Spec) {
		return nil
	}
	const text = "when `hostUsers` is false"
	var errs field.ErrorList
	if r.Spec.True("hostNetwork") && !r.Allow.hostNetworkInUserNS {
		errs = append(errs, field.Forbidden(r.Path.Child("hostNetwork"), text))
	}
	if r.Spec.True("hostPID") {
		errs = append(errs, field.Forbidden(r.Path.Child("HostPID"), text))
	}
	if r.Spec.True("hostIPC") {
		errs = append(errs, field.Forbidden(r.Path.Child("HostIPC"), text))
	}
	r.eachContainer(func(c object.Object, p field.Path) {
		if len(c.List("volumeDevices")) > 0 && !r.Allow.devicesInUserNS {
			errs = append(errs, field.Forbidden(p.Child("volumeDevices"), text))
		}
	})
	return errs
}
