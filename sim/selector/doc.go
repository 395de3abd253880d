// Package selector selects objects by their labels and fields.
//
//	"app in (web,api),tier!=db,!old"            "status.phase!=Failed,spec.nodeName=n1"
//	Labels ─┬ app  in     api, web               Fields ─┬ spec.nodeName = n1
//	        ├ old  !                                     └ status.phase != Failed
//	        └ tier !=     db
//
// An object must meet all requirements. Labels are created from the labelSelector parameter, from a metav1.LabelSelector in an
// object, or from a map; Fields only from the fieldSelector parameter. Grammar and error texts are those of k8s.io/apimachinery's
// packages labels and fields of v1.36 (API concepts, "Labels and Selectors" and "Field Selectors").
package selector
