package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
)

// keepAnnotation protects a Site from deletion.
const keepAnnotation = "web.example.com/keep"

// defaulter sets defaults that the schema cannot express.
type defaulter struct{}

// Default implements admission.Defaulter. It sets one replica for a Site without a scale, and a host for a Site without hosts.
func (defaulter) Default(_ context.Context, site *v2.Site) error {
	if site.Spec.Scale == nil {
		site.Spec.Scale = &v2.Scale{Replicas: 1}
	}
	if len(site.Spec.Hosts) == 0 && site.Name != "" {
		site.Spec.Hosts = []string{site.Name + "." + site.Namespace + ".example.com"}
	}
	return nil
}

// validator validates a Site. It reads other Sites from the manager's cache.
type validator struct{ sites client.Reader }

// ValidateCreate implements admission.Validator. It rejects a host that another Site has.
func (v validator) ValidateCreate(ctx context.Context, site *v2.Site) (admission.Warnings, error) {
	return v.validate(ctx, site)
}

// ValidateUpdate implements admission.Validator, like ValidateCreate. It accepts any change of an object that is being deleted, so
// that finalizers can be removed.
func (v validator) ValidateUpdate(ctx context.Context, _, site *v2.Site) (admission.Warnings, error) {
	if site.DeletionTimestamp != nil {
		return nil, nil
	}
	return v.validate(ctx, site)
}

// ValidateDelete implements admission.Validator. It rejects the deletion of a Site with keepAnnotation.
func (validator) ValidateDelete(_ context.Context, site *v2.Site) (admission.Warnings, error) {
	if site.Annotations[keepAnnotation] != "" {
		return nil, fmt.Errorf("annotation %s protects this site", keepAnnotation)
	}
	return nil, nil
}

func (v validator) validate(ctx context.Context, site *v2.Site) (warnings admission.Warnings, err error) {
	if !strings.Contains(site.Spec.Image, ":") {
		warnings = append(warnings, "spec.image: without a tag, tomorrow's image is another one")
	}
	list := &v2.SiteList{}
	if err := v.sites.List(ctx, list); err != nil {
		return warnings, err
	}
	var wrong field.ErrorList
	for i, host := range site.Spec.Hosts {
		for _, other := range list.Items {
			if other.UID != site.UID && slices.Contains(other.Spec.Hosts, host) {
				wrong = append(wrong, field.Invalid(field.NewPath("spec", "hosts").Index(i), host,
					"belongs to "+other.Namespace+"/"+other.Name))
			}
		}
	}
	if len(wrong) > 0 {
		return warnings, apierrors.NewInvalid(v2.GroupVersion.WithKind("Site").GroupKind(), site.Name, wrong)
	}
	return warnings, nil
}
