// Package admission decides on writes after they were decoded and before they are stored: first every plugin may
// change the object, then, when it is valid, every plugin may refuse it (API concepts, admission control).
//
//	decode ─▶ Mutate: NamespaceLifecycle, Priority, … ─▶ validation ─▶ Validate: NamespaceLifecycle, … ─▶ store
//
// Plugins run in the order in which kube-apiserver runs them. A file holds one, or a few about the same objects.
package admission

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Operation is what a request does to an object.
type Operation string

const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// Attributes is one write as the plugins see it.
type Attributes struct {
	*resource.Context
	Operation Operation
	Object    object.Object // in the hub version; nil for DELETE
	Old       object.Object // nil for CREATE

	rounds   map[string]*round // of plugins that may be called twice, by name
	reinvoke bool              // one of them changed the object: see Changed
	second   bool              // this is the second time
}

// unfold replaces the text that fieldsV1 of a new object is kept as by what it says, for policies and webhooks, which may look
// into it and are asked what they have changed.
func (a *Attributes) unfold() {
	for _, entry := range a.Object.Objects("metadata", "managedFields") {
		if text, ok := entry["fieldsV1"].(object.Raw); ok {
			entry["fieldsV1"] = text.Value()
		}
	}
}

// Changed reports whether a policy or webhook has changed Object.
func (a *Attributes) Changed() bool { return a.reinvoke }

// Plugin is one admission plugin. A nil function has no part in its phase.
type Plugin struct {
	Name     string
	Optional bool // it runs only when it is asked for
	Mutate   func(*Attributes) *status.Status
	Validate func(*Attributes) *status.Status
}

// Chain is the plugins of one API server, in order.
type Chain []Plugin

// plugins returns all plugins that are simulated, in the order in which kube-apiserver runs them (kubeapiserver/options,
// AllOrderedPlugins). may decides what the plugins for certificates ask.
func plugins(h *Host, may Authorize) Chain {
	return Chain{
		{Name: "NamespaceLifecycle", Mutate: checkNamespace},
		{Name: "LimitRanger", Mutate: setLimits, Validate: checkLimits},
		{Name: "ServiceAccount", Optional: true, Mutate: setServiceAccount, Validate: checkServiceAccount},
		{Name: "TaintNodesByCondition", Mutate: taintNewNode},
		{Name: "PodSecurity", Validate: checkSecurity},
		{Name: "Priority", Mutate: setPriority, Validate: oneDefaultPriority},
		{Name: "DefaultTolerationSeconds", Mutate: tolerateUnusableNodes},
		{Name: "DefaultStorageClass", Mutate: setStorageClass},
		{Name: "StorageObjectInUseProtection", Mutate: protectStorage},
		{Name: "PersistentVolumeClaimResize", Validate: checkGrowth},
		{Name: "RuntimeClass", Mutate: applyRuntimeClass, Validate: checkOverhead},
		{Name: "CertificateApproval", Validate: certificateApproval(may)},
		{Name: "CertificateSigning", Validate: certificateSigning(may)},
		{Name: "CertificateSubjectRestriction", Validate: restrictSubject},
		{Name: "DefaultIngressClass", Mutate: setIngressClass},
		{Name: "PodResizeValidator", Validate: checkResize},
		{Name: "MutatingAdmissionPolicy", Mutate: newPolicies(h, mutatingPolicies, mutatingBindings).mutate},
		{Name: "MutatingAdmissionWebhook", Mutate: newWebhooks(h, "MutatingAdmissionWebhook", mutatingConfigurations).mutate},
		{Name: "ValidatingAdmissionPolicy", Validate: newPolicies(h, validatingPolicies, validatingBindings).validate},
		{Name: "ValidatingAdmissionWebhook", Validate: newWebhooks(h, "ValidatingAdmissionWebhook", validatingConfigurations).validate},
		{Name: "ResourceQuota", Validate: resourceQuota(h.Write)},
	}
}

// New returns the plugins that kube-apiserver runs by default, in its order, and those that are optional and named in with.
// Those that are named in without are left out.
func New(h *Host, may Authorize, with, without []string) Chain {
	return slices.DeleteFunc(plugins(h, may), func(p Plugin) bool {
		return slices.Contains(without, p.Name) || p.Optional && !slices.Contains(with, p.Name)
	})
}

// Names returns the names of all plugins that are simulated, in their order.
func Names() []string { return names(func(Plugin) bool { return true }) }

// Optional returns the names of those that New adds when they are asked for.
func Optional() []string { return names(func(p Plugin) bool { return p.Optional }) }

func names(which func(Plugin) bool) (list []string) {
	for _, p := range plugins(&Host{}, nil) {
		if which(p) {
			list = append(list, p.Name)
		}
	}
	return list
}

// Mutate lets each plugin change a.Object; the first refusal ends it. When a policy or webhook has changed the object,
// all plugins see it once more.
func (c Chain) Mutate(a *Attributes) *status.Status {
	if s := c.mutate(a); s != nil {
		return s
	}
	if !a.reinvoke {
		return nil
	}
	a.second = true
	return c.mutate(a)
}

func (c Chain) mutate(a *Attributes) *status.Status {
	for _, p := range c {
		if p.Mutate != nil {
			if s := p.Mutate(a); s != nil {
				return s
			}
		}
	}
	return nil
}

// Validate asks each plugin; the first refusal counts.
func (c Chain) Validate(a *Attributes) *status.Status {
	for _, p := range c {
		if p.Validate != nil {
			if s := p.Validate(a); s != nil {
				return s
			}
		}
	}
	return nil
}
