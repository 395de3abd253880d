// Package operator is a controller-runtime project in kubebuilder's layout that is tested without sockets. It has a kind with two
// versions and a conversion webhook, a defaulting and a validating webhook, and a controller.
//
//	api/v1, api/v2   the types; v2 is the hub and is stored, v1 converts to it and back
//	config/          the definition, the role and the webhook configurations; default.yaml is everything, as it would be deployed
//	cmd/             the program
//	controller.go    Site -> Deployment, and back into the status
//	webhook.go       defaults and validation
//
//	client ──▶ kubesim ──AdmissionReview, ConversionReview──▶ fake/ctrl ──────────▶ the manager's webhook mux
//	              ▲                                                                          │
//	              └───────── watches, writes ◀── cache, reconciler ◀── the same manager ─────┘
//
// Only main_test.go depends on kubesim. Everything else is part of any such project. role_test.go proves that config/role.yaml is
// the smallest sufficient role. process_test.go runs the program, as "make run" does, against "kubesim serve" and
// config/default.yaml, in which cert-manager would provide the certificates; kubesim replaces it.
package operator
