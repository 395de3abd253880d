package podspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// operatingSystem checks spec.os. It also checks that fields which do not apply to that operating system are not set (KEP-2802).
func (r *Rules) operatingSystem() {
	system := r.at.Child("os")
	if !system.Has() {
		return
	}
	switch system.Child("name").Required().ReportAt(system).OneOf("linux", "windows").String() {
	case "linux":
		r.linux()
	case "windows":
		r.windows()
	}
}

func (r *Rules) linux() {
	const text = "windows options cannot be set for a linux pod"
	r.at.Child("securityContext").ForbidAny(text, "windowsOptions")
	for c := range r.eachContainer() {
		c.Child("securityContext").ForbidAny(text, "windowsOptions")
	}
}

// The fields that pods and containers on Windows must not have, in the order of the server's checks. Since 1.37 the
// fields of hostOnWindows come last.
var (
	hostOnWindows = []string{"hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"}
	notOnWindows  = []string{"securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID", "hostIPC",
		"securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy", "securityContext.sysctls",
		"shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup", "securityContext.supplementalGroups",
		"securityContext.supplementalGroupsPolicy", "securityContext.seLinuxChangePolicy"}
	notInWindowsContainers = []string{"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
		"privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"}
)

func (r *Rules) windows() {
	const text = "cannot be set for a windows pod"
	names := notOnWindows
	if r.ctx.Since(37) {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(hostOnWindows, name) })
		names = append(names, hostOnWindows...)
	}
	for _, name := range names {
		at := r.at.Child(object.Path(name)...)
		host := name == "hostPID" || name == "hostIPC"
		at.ForbidIf(at.Has() && (!host || at.True()), text)
	}
	for c := range r.eachContainer() {
		c.Child("securityContext").ForbidAny(text, notInWindowsContainers...)
	}
}

// hostProcess checks that either all or none of the containers of a Windows pod are host processes (KEP-1981).
func (r *Rules) hostProcess() {
	if !r.onWindows {
		return
	}
	path := []string{"securityContext", "windowsOptions", "hostProcess"}
	whole, set := r.Spec.Bool(path...)
	all, host := 0, 0
	for c := range r.eachContainer() {
		all++
		own, ok := c.Object().Bool(path...)
		if set && ok && whole != own {
			c.Child(path...).Invalid(own, fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", whole))
		}
		if ok && own || !ok && whole {
			host++
		}
	}
	if host == 0 {
		return
	}
	r.at.With("").InvalidIf(host != all,
		"If pod contains any hostProcess containers then all containers must be HostProcess containers")
	r.at.Child("hostNetwork").With(false).InvalidIf(!r.Spec.True("hostNetwork"),
		"hostNetwork must be true if pod contains any hostProcess containers")
	r.at.ForbidIf(r.ctx.NoPrivileged, "hostProcess containers are disallowed by cluster policy")
}

const (
	credentialSpecMax    = 64 << 10
	windowsUserDomainMax = 256
	windowsUserMax       = 104
)

var (
	controlCharacters    = pattern(`[[:cntrl:]]+`)
	netBIOSName          = pattern(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	windowsDomain        = pattern(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	windowsUserForbidden = pattern(`["/\\:;|=,\+\*\?<>@\[\]]`)
	dotsAndSpaces        = pattern(`^[\. ]+$`)
)

func (r *Rules) windowsOptions(o field.Cursor) {
	if !o.Has() {
		return
	}
	r.onWindows = true
	o.Child("gmsaCredentialSpecName").CheckEnum(field.DNS1123Subdomain)
	o.Child("gmsaCredentialSpec").CheckEnum(credentialSpec)
	o.Child("runAsUserName").CheckEnum(windowsUserName)
}

func credentialSpec(text string) []string {
	switch {
	case text == "":
		return []string{"gmsaCredentialSpec cannot be an empty string"}
	case len(text) > credentialSpecMax:
		return []string{"gmsaCredentialSpec size must be under 64 KiB"}
	}
	return nil
}

// windowsUserName returns the errors in a Windows user name, such as user or DOMAIN\user.
func windowsUserName(name string) []string {
	switch {
	case name == "":
		return []string{"runAsUserName cannot be an empty string"}
	case controlCharacters().MatchString(name):
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
	if prefixed && !netBIOSName().MatchString(domain) && !windowsDomain().MatchString(domain) {
		msgs = append(msgs, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	if user == "" {
		msgs = append(msgs, "runAsUserName's User cannot be empty")
	} else if len(user) > windowsUserMax {
		msgs = append(msgs, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", windowsUserMax))
	}
	if dotsAndSpaces().MatchString(user) {
		msgs = append(msgs, "runAsUserName's User cannot contain only periods or spaces")
	}
	if windowsUserForbidden().MatchString(user) {
		msgs = append(msgs, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return msgs
}

// AppArmorOf returns the AppArmor profile that an annotation specifies, or nil if the value of the annotation is invalid.
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
