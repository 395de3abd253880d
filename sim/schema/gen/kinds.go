package main

import (
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubesim/kubesim/sim/schema"
)

// registration registers the kinds of a group version.
type registration = func(*runtime.Scheme) error

// registrations register the kinds for which data is generated: all kinds of stable versions, and the kinds that only servers send
// (discovery, webhook reviews).
var registrations = []registration{
	admissionv1.AddToScheme, admissionregistrationv1.AddToScheme, apidiscoveryv2.AddToScheme,
	apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, appsv1.AddToScheme,
	authenticationv1.AddToScheme, authorizationv1.AddToScheme, autoscalingv1.AddToScheme,
	autoscalingv2.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme,
	coordinationv1.AddToScheme, corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme,
	flowcontrolv1.AddToScheme, networkingv1.AddToScheme, nodev1.AddToScheme, policyv1.AddToScheme,
	rbacv1.AddToScheme, resourcev1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme,
	metav1.AddMetaToScheme, addReviews,
}

// addReviews adds the v1beta1 reviews for webhooks, because errors about their responses contain the Go type names.
func addReviews(s *runtime.Scheme) error {
	s.AddKnownTypes(admissionv1beta1.SchemeGroupVersion, &admissionv1beta1.AdmissionReview{})
	s.AddKnownTypes(apiextensionsv1beta1.SchemeGroupVersion, &apiextensionsv1beta1.ConversionReview{})
	return nil
}

// extraTypes are types that are published, or that are needed by name, although no kind refers to them.
var extraTypes = []reflect.Type{
	reflect.TypeFor[metav1.Patch](), reflect.TypeFor[version.Info](), reflect.TypeFor[metav1.Duration](),
	reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[metav1.ListMeta](), reflect.TypeFor[metav1.TypeMeta](),
}

// kindTypes returns the Go types of the registered kinds.
func kindTypes(registrations []registration) (map[schema.GVK]reflect.Type, error) {
	scheme := runtime.NewScheme()
	for _, add := range registrations {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	out := map[schema.GVK]reflect.Type{}
	for gvk, t := range scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		out[schema.GVK{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}] = t
	}
	return out, nil
}
