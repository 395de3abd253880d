// Package admission decides on writes after they were decoded and before they are stored: first every plugin may
// change the object, then, when it is valid, every plugin may refuse it (API concepts, admission control).
//
//	decode ─▶ Mutate: NamespaceLifecycle, Priority, … ─▶ validation ─▶ Validate: NamespaceLifecycle, … ─▶ store
//
// Plugins run in the order in which kube-apiserver runs them. A file holds one, or a few about the same objects.
package admission

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Operation is the operation of a request.
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
	Object    object.Object // in the hub version; nil for DELETE; the options of a CONNECT
	Old       object.Object // nil for CREATE

	draft    *draft            // the draft for mutating webhooks; nil unless they run
	rounded  bool              // a webhook has patched Object at least once
	rounds   map[string]*round // of plugins that may be called twice, by name
	reinvoke bool              // one of them changed the object: see Changed
	second   bool              // this is the second time
}

// parseFieldsV1 parses the text of fieldsV1 of a new object, for policies and webhooks, which may read it and whose changes are compared.
func (a *Attributes) parseFieldsV1() {
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
	Name             string
	Optional         bool // runs only on request
	Connects         bool // also runs for streams (CONNECT)
	Mutate, Validate Step
}

// Step is the part of a plugin that runs in one phase, mutation or validation. It returns nil, or the Status with which it refuses the
// write.
type Step func(*Attributes) *status.Status

// on lets a step see only writes that are one of the operations on a resource itself, not on a subresource.
func on(storage string, step Step, operations ...Operation) Step {
	return func(a *Attributes) *status.Status {
		if !a.about(storage, operations...) {
			return nil
		}
		return step(a)
	}
}

// Chain is the plugins of one API server, in order.
type Chain []Plugin

// plugins returns all plugins that are simulated, in the order in which kube-apiserver runs them (kubeapiserver/options,
// AllOrderedPlugins).
func plugins(h *Server) Chain {
	return Chain{
		{Name: "NamespaceLifecycle", Mutate: checkNamespace},
		{Name: "LimitRanger", Mutate: setLimits, Validate: checkLimits},
		{Name: "ServiceAccount", Optional: true,
			Mutate: on(pods, setServiceAccount(h), Create), Validate: on(pods, checkServiceAccount, Create)},
		{Name: "TaintNodesByCondition", Mutate: on(nodes, taintNewNode, Create)},
		{Name: "PodSecurity", Validate: h.Config.PodSecurity.check},
		{Name: "Priority", Mutate: setPriority, Validate: on(priorityClasses, oneDefaultPriority, Create, Update)},
		{Name: "DefaultTolerationSeconds", Mutate: on(pods, tolerateUnusableNodes, Create, Update)},
		{Name: "DefaultStorageClass", Mutate: on(claims, setStorageClass, Create)},
		{Name: "StorageObjectInUseProtection", Mutate: protectStorage},
		{Name: "PersistentVolumeClaimResize", Validate: on(claims, checkGrowth, Update)},
		{Name: "RuntimeClass", Mutate: on(pods, applyRuntimeClass, Create), Validate: on(pods, checkOverhead, Create)},
		{Name: "CertificateApproval", Validate: certificateApproval(h.authorize)},
		{Name: "CertificateSigning", Validate: certificateSigning(h.authorize)},
		{Name: "CertificateSubjectRestriction", Validate: on(signingRequests, restrictSubject, Create)},
		{Name: "DefaultIngressClass", Mutate: on(ingresses, setIngressClass, Create)},
		{Name: "NodeDeclaredFeatureValidator", Validate: checkDeclaredFeatures},
		{Name: "PodResizeValidator", Validate: checkResize},
		{Name: "MutatingAdmissionPolicy", Connects: true, Mutate: newPolicies(h, mutatingPolicies, mutatingBindings).mutate},
		{Name: "MutatingAdmissionWebhook", Connects: true, Mutate: newWebhooks(h, "MutatingAdmissionWebhook", mutatingConfigurations).mutate},
		{Name: "ValidatingAdmissionPolicy", Connects: true, Validate: newPolicies(h, validatingPolicies, validatingBindings).validate},
		{Name: "ValidatingAdmissionWebhook", Connects: true, Validate: newWebhooks(h, "ValidatingAdmissionWebhook", validatingConfigurations).validate},
		{Name: "ResourceQuota", Validate: resourceQuota(h.write, h.Config.Limited)},
	}
}

// New returns the plugins that kube-apiserver runs by default, in its order, and the optional ones that are named in with. It omits
// the plugins that are named in without.
func New(h *Server, with, without []string) Chain {
	return slices.DeleteFunc(plugins(h), func(p Plugin) bool {
		return slices.Contains(without, p.Name) || p.Optional && !slices.Contains(with, p.Name)
	})
}

// Names returns the names of all plugins that are simulated, in their order.
func Names() []string { return names(func(Plugin) bool { return true }) }

// Optional returns the names of the optional plugins, which New adds on request.
func Optional() []string { return names(func(p Plugin) bool { return p.Optional }) }

func names(which func(Plugin) bool) (list []string) {
	for _, p := range plugins(&Server{}) {
		if which(p) {
			list = append(list, p.Name)
		}
	}
	return list
}

// Mutate lets each plugin change a.Object; the first refusal ends it. If a policy or webhook has changed the object, all plugins
// run once more.
func (c Chain) Mutate(a *Attributes) *status.Status {
	mutate := func(p *Plugin) Step { return p.Mutate }
	if s := c.run(a, mutate); s != nil || !a.reinvoke {
		return s
	}
	a.second = true
	return c.run(a, mutate)
}

// Validate runs each plugin; the first refusal is the answer.
func (c Chain) Validate(a *Attributes) *status.Status {
	return c.run(a, func(p *Plugin) Step { return p.Validate })
}

func (c Chain) run(a *Attributes, phase func(*Plugin) Step) *status.Status {
	for i := range c {
		if step := phase(&c[i]); step != nil && (a.Operation != Connect || c[i].Connects) {
			if s := step(a); s != nil {
				return s
			}
		}
	}
	return nil
}

// The storage names of the resources that plugins are about.
const (
	pods            = "pods"
	nodes           = "nodes"
	namespaces      = "namespaces"
	claims          = "persistentvolumeclaims"
	volumes         = "persistentvolumes"
	ingresses       = "ingresses.networking.k8s.io"
	ingressClasses  = "ingressclasses.networking.k8s.io"
	priorityClasses = "priorityclasses.scheduling.k8s.io"
	runtimeClasses  = "runtimeclasses.node.k8s.io"
	storageClasses  = "storageclasses.storage.k8s.io"
	attributesClass = "volumeattributesclasses.storage.k8s.io"
	signingRequests = "certificatesigningrequests.certificates.k8s.io"
)

// about reports whether the write is one of the operations on a resource itself, not on a subresource.
func (a *Attributes) about(storage string, operations ...Operation) bool {
	return a.Definition.Storage == storage && a.Subresource == "" && slices.Contains(operations, a.Operation)
}

// refuse answers that the write is forbidden. An object whose name is still to be generated is named by its prefix.
func (a *Attributes) refuse(format string, args ...any) *status.Status {
	name := cmp.Or(a.Name, a.Object.Name(), a.Object.GenerateName(), "Unknown")
	return status.Forbidden(a.Definition.GroupResource(), name, fmt.Sprintf(format, args...))
}
