// Package admission implements admission control (API concepts): plugins process each write after it is decoded and
// before it is stored. First, every plugin may change the object. After validation, every plugin may reject the write.
//
//	decode ─▶ Mutate: NamespaceLifecycle, Priority, … ─▶ validation ─▶ Validate: NamespaceLifecycle, … ─▶ store
//
// Plugins run in the same order as in kube-apiserver. Each file contains one plugin, or a few plugins for the same
// objects.
package admission

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Operation is the kind of a write, or CONNECT for a stream.
type Operation string

const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// Attributes is one write, as plugins receive it.
type Attributes struct {
	*resource.Context
	Operation Operation
	Object    object.Object // in the hub version; the options of a CONNECT; nil for DELETE
	Old       object.Object // nil for CREATE

	draft    *draft            // the draft for mutating webhooks; nil when none are running
	rounded  bool              // a webhook has patched Object at least once
	rounds   map[string]*round // state of the plugins that may run twice, by name
	reinvoke bool              // a policy or webhook has changed the object; see Changed
	second   bool              // the plugins run for the second time

	decisions map[expr.Access]expr.Decision // answers to the authorization queries of expressions
}

// parseFieldsV1 decodes fieldsV1 in the managedFields of the new object: policies and webhooks may read it, and decoded values can
// be compared to detect their changes.
func (a *Attributes) parseFieldsV1() {
	for _, entry := range a.Object.Objects("metadata", "managedFields") {
		if text, ok := entry["fieldsV1"].(object.Raw); ok {
			entry["fieldsV1"] = text.Value()
		}
	}
}

// Changed reports whether a policy or webhook has changed Object, so that the plugins must run a second time.
func (a *Attributes) Changed() bool { return a.reinvoke }

// Plugin is one admission plugin. If Mutate or Validate is nil, the plugin does not run in that phase.
type Plugin struct {
	Name             string
	Optional         bool // runs only if it is enabled explicitly
	Connects         bool // also runs for streams (CONNECT)
	Mutate, Validate Step
}

// Step is the function of a plugin for one phase, mutation or validation. It returns nil, or the Status with which it
// rejects the write.
type Step func(*Attributes) *status.Status

// on returns a step that runs only for the given operations on the resource itself, not on its subresources.
func on(storage string, step Step, operations ...Operation) Step {
	return func(a *Attributes) *status.Status {
		if !a.about(storage, operations...) {
			return nil
		}
		return step(a)
	}
}

// Chain contains the plugins of one API server, in order.
type Chain []Plugin

// plugins returns all simulated plugins in the order in which kube-apiserver runs them (kubeapiserver/options,
// AllOrderedPlugins).
func plugins(h *Server) Chain {
	return Chain{
		{Name: "NamespaceLifecycle", Mutate: checkNamespace},
		{Name: "LimitRanger", Mutate: setLimits, Validate: checkLimits},
		{Name: "ServiceAccount", Optional: true,
			Mutate: on(pods, setServiceAccount(h), Create), Validate: on(pods, checkServiceAccount, Create)},
		{Name: "NodeRestriction", Optional: true, Mutate: restrictNodes(h)},
		{Name: "TaintNodesByCondition", Mutate: on(nodes, taintNewNode, Create)},
		{Name: "PodSecurity", Validate: h.Config.PodSecurity.check},
		{Name: "Priority", Mutate: setPriority, Validate: on(priorityClasses, oneDefaultPriority, Create, Update)},
		{Name: "DefaultTolerationSeconds", Mutate: on(pods, tolerateUnusableNodes, Create, Update)},
		{Name: "DefaultStorageClass", Mutate: on(claims, setStorageClass, Create)},
		{Name: "StorageObjectInUseProtection", Mutate: protectStorage},
		{Name: "PodGroupProtection", Mutate: on(podGroups, protectGroup, Create)},
		{Name: "PersistentVolumeClaimResize", Validate: on(claims, checkGrowth, Update)},
		{Name: "RuntimeClass", Mutate: on(pods, applyRuntimeClass, Create), Validate: on(pods, checkOverhead, Create)},
		{Name: "CertificateApproval", Validate: certificateApproval(h.authorize)},
		{Name: "CertificateSigning", Validate: certificateSigning(h.authorize)},
		{Name: "ClusterTrustBundleAttest", Validate: on(trustBundles, attestBundle(h.authorize), Create, Update)},
		{Name: "CertificateSubjectRestriction", Validate: on(signingRequests, restrictSubject, Create)},
		{Name: "DefaultIngressClass", Mutate: on(ingresses, setIngressClass, Create)},
		{Name: "PodGroupWorkloadExists", Validate: on(podGroups, checkGroupWorkload, Create)},
		{Name: "NodeDeclaredFeatureValidator", Validate: checkDeclaredFeatures},
		{Name: "JobValidation", Validate: on(jobs, checkGangParallelism, Update)},
		{Name: "PodResizeValidator", Validate: checkResize},
		{Name: "MutatingAdmissionPolicy", Connects: true, Mutate: newPolicies(h, mutatingPolicies, mutatingBindings).mutate},
		{Name: "MutatingAdmissionWebhook", Connects: true, Mutate: newWebhooks(h, "MutatingAdmissionWebhook", mutatingConfigurations).mutate},
		{Name: "ValidatingAdmissionPolicy", Connects: true, Validate: newPolicies(h, validatingPolicies, validatingBindings).validate},
		{Name: "ValidatingAdmissionWebhook", Connects: true, Validate: newWebhooks(h, "ValidatingAdmissionWebhook", validatingConfigurations).validate},
		{Name: "ResourceQuota", Validate: resourceQuota(h.write, h.Config.Limited)},
	}
}

// New returns the plugins that kube-apiserver runs by default, in its order, and the optional ones in with. It omits the
// plugins in without.
func New(h *Server, with, without []string) Chain {
	return slices.DeleteFunc(plugins(h), func(p Plugin) bool {
		return slices.Contains(without, p.Name) || p.Optional && !slices.Contains(with, p.Name)
	})
}

// Names returns the names of all simulated plugins, in their order.
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

// Mutate lets each plugin change a.Object. It stops at the first rejection. If a policy or webhook has changed the
// object, it runs all plugins once more.
func (c Chain) Mutate(a *Attributes) *status.Status {
	mutate := func(p *Plugin) Step { return p.Mutate }
	if s := c.run(a, mutate); s != nil || !a.reinvoke {
		return s
	}
	a.second = true
	return c.run(a, mutate)
}

// Validate runs each plugin and returns the first rejection.
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

// The storage names of the resources that plugins process.
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
	trustBundles    = "clustertrustbundles.certificates.k8s.io"
	jobs            = "jobs.batch"

	workloads          = "workloads.scheduling.k8s.io"
	podGroups          = "podgroups.scheduling.k8s.io"
	compositePodGroups = "compositepodgroups.scheduling.k8s.io"
)

// about reports whether the write is one of the given operations on the resource itself, not on a subresource.
func (a *Attributes) about(storage string, operations ...Operation) bool {
	return a.Definition.Storage == storage && a.Subresource == "" && slices.Contains(operations, a.Operation)
}

// refuse returns a 403 with the message. If the object's name has not been generated yet, the message contains its generateName.
func (a *Attributes) refuse(format string, args ...any) *status.Status {
	name := cmp.Or(a.Name, a.Object.Name(), a.Object.GenerateName(), "Unknown")
	return status.Forbidden(a.Definition.GroupResource(), name, fmt.Sprintf(format, args...))
}
