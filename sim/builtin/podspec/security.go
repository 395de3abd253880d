package podspec

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// podSecurityContext checks the pod-level security settings, which most pods leave empty.
func (r *Rules) podSecurityContext() {
	sc := r.at.Child("securityContext")
	given := sc.Len() > 0
	if given {
		podUsers(sc)
	}
	if !r.ctx.Since(37) {
		r.sharedProcesses(sc)
	}
	if given {
		r.podSettings(sc)
	}
}

// podUsers checks the users and groups under which the pod's containers run.
func podUsers(sc field.Cursor) {
	for _, name := range []string{"fsGroup", "runAsUser", "runAsGroup"} {
		sc.Child(name).CheckInt(field.UserID)
	}
	for id := range sc.Each("supplementalGroups") {
		id.CheckInt(field.UserID)
	}
}

// podSettings checks the remaining security settings of a pod.
func (r *Rules) podSettings(sc field.Cursor) {
	r.sysctls(sc)
	sc.Child("fsGroupChangePolicy").OneOf("Always", "OnRootMismatch")
	seccompProfile(sc.Child("seccompProfile"))
	r.windowsOptions(sc.Child("windowsOptions"))
	appArmorProfile(sc.Child("appArmorProfile"))
	sc.Child("supplementalGroupsPolicy").OneOf("Merge", "Strict")
	policies := []string{"MountOption", "Recursive"}
	if !r.ctx.Enabled("SELinuxMount") && !r.Allow.anySELinuxPolicy() {
		policies = policies[1:]
	}
	sc.Child("seLinuxChangePolicy").OneOf(policies...)
}

// sharedProcesses checks that a pod does not both share a process namespace and use the host's. Before 1.37 the path in the error
// includes the security context.
func (r *Rules) sharedProcesses(at field.Cursor) {
	if r.Spec.True("shareProcessNamespace") && r.Spec.True("hostPID") {
		at.Child("shareProcessNamespace").Invalid(true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
}

// securityContext checks the security settings of one container.
func (r *Rules) securityContext(sc field.Cursor) {
	if !sc.Has() {
		return
	}
	sc.Child("privileged").ForbidIf(r.ctx.NoPrivileged && sc.True("privileged"), "disallowed by cluster policy")
	sc.Child("runAsUser").CheckInt(field.UserID)
	sc.Child("runAsGroup").CheckInt(field.UserID)
	mount := sc.Child("procMount").OneOf("Default", "Unmasked")
	mount.InvalidIf(mount.String() == "Unmasked" && !inUserNamespace(r.Spec), "`hostUsers` must be false to use `Unmasked`")
	seccompProfile(sc.Child("seccompProfile"))
	if escalate := sc.Child("allowPrivilegeEscalation"); escalate.Has() && !escalate.True() {
		const text = "cannot set `allowPrivilegeEscalation` to false and "
		kind.InvalidStructIf(sc, sc.True("privileged"), gotext.SecurityContext, text+"`privileged` to true")
		for _, capability := range sc.Strings("capabilities", "add") {
			kind.InvalidStructIf(sc, capability == "CAP_SYS_ADMIN" && !r.Allow.sysAdmin(), gotext.SecurityContext, text+"`capabilities.Add` CAP_SYS_ADMIN")
		}
	}
	r.windowsOptions(sc.Child("windowsOptions"))
	appArmorProfile(sc.Child("appArmorProfile"))
}

var profileTypes = []string{"Localhost", "RuntimeDefault", "Unconfined"}

func seccompProfile(profile field.Cursor) {
	if !profile.Has() {
		return
	}
	profile.Child("type").Required("type is required when seccompProfile is set").OneOf(profileTypes...)
	path := profile.Child("localhostProfile")
	switch local := profile.String("type") == "Localhost"; {
	case local && !path.Has():
		path.Missing("must be set when seccomp type is Localhost")
	case local:
		path.Check(field.DescendingPath)
	case path.Has():
		path.Invalid(gotext.Value(gotext.SeccompProfile, profile.Object()), "can only be set when seccomp type is Localhost")
	}
}

const localhostProfileMax = 4095 // maximum length of a file path, without the terminating zero

func appArmorProfile(profile field.Cursor) {
	if !profile.Has() {
		return
	}
	path := profile.Child("localhostProfile")
	switch name := path.String(); profile.String("type") {
	case "Localhost":
		if strings.TrimSpace(name) != name {
			path.Invalid(name, "must not be padded with whitespace")
		} else {
			path.Required("must be set when AppArmor type is Localhost")
		}
		path.MaxBytes(localhostProfileMax)
	case "RuntimeDefault", "Unconfined":
		path.AsEnum().InvalidIf(path.Has(), "can only be set when AppArmor type is Localhost")
	default:
		profile.Child("type").Required("type is required when appArmorProfile is set").OneOf(profileTypes...)
	}
}

const sysctlNameMax = 253

var sysctlName = pattern(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func (r *Rules) sysctls(sc field.Cursor) {
	if sc.Len("sysctls") == 0 {
		return
	}
	seen, host := field.Seen{}, hostSysctls(r.Spec)
	for s := range sc.Each("sysctls") {
		at := s.Child("name").OrEmpty()
		switch name := at.String(); {
		case name == "":
			at.Required()
		case len(name) > sysctlNameMax || !sysctlName().MatchString(name):
			at.Invalid(name, "must have at most 253 characters and match regex "+sysctlName().String())
		case seen[name]:
			at.Duplicate(name)
		}
		text := host[at.String()]
		at.InvalidIf(text != "" && !r.Allow.hostSysctls(), text)
		seen[at.String()] = true
	}
}

// hostSysctls returns the sysctls that would affect the host, because the pod uses the host's namespace. The values are error
// messages.
func hostSysctls(spec object.Object) map[string]string {
	out := map[string]string{}
	for _, s := range spec.Objects("securityContext", "sysctls") {
		switch name := s.String("name"); {
		case spec.True("hostNetwork") && sysctlNamespace(name) == "net":
			out[name] = "may not be specified when 'hostNetwork' is true"
		case spec.True("hostIPC") && sysctlNamespace(name) == "ipc":
			out[name] = "may not be specified when 'hostIPC' is true"
		}
	}
	return out
}

var ipcSysctls = []string{"kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
	"kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"}

// sysctlNamespace returns the Linux namespace of a sysctl (ipc_namespaces(7), network_namespaces(7)): "ipc", "net" or "".
func sysctlNamespace(name string) string {
	if sep := strings.IndexAny(name, "./"); sep >= 0 && name[sep] == '/' { // with slashes as separators, as in net/ipv4/conf/eno2.100, '.' and '/' are swapped
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

// hostUsers checks that a pod in a user namespace does not set certain other fields (KEP-127).
func (r *Rules) hostUsers() {
	if !inUserNamespace(r.Spec) {
		return
	}
	const text = "when `hostUsers` is false"
	r.at.Child("hostNetwork").ForbidIf(r.Spec.True("hostNetwork") && !r.Allow.hostNetworkInUserNS(), text)
	r.at.Child("HostPID").ForbidIf(r.Spec.True("hostPID"), text)
	r.at.Child("HostIPC").ForbidIf(r.Spec.True("hostIPC"), text)
	for c := range r.eachContainer() {
		c.Child("volumeDevices").ForbidIf(c.Len("volumeDevices") > 0 && !r.Allow.devicesInUserNS(), text)
	}
}
