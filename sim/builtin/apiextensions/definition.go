// Package apiextensions has what CustomResourceDefinitions share with the other built-in kinds. What a definition may say is the business
// of package crd.
package apiextensions

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/resource"
)

// Kinds returns the kinds of apiextensions.k8s.io.
func Kinds() []kind.Kind { return []kind.Kind{customResourceDefinitionKind()} }

// customResourceDefinitionKind has no rules of its own here: what a definition may say, and its conditions, are the
// business of package crd.
func customResourceDefinitionKind() kind.Kind {
	return kind.Kind{
		Storage:     "customresourcedefinitions.apiextensions.k8s.io",
		KeyPrefix:   "apiextensions.k8s.io/customresourcedefinitions",
		PlainStatus: true,
		Changed:     kind.Semantically.Of("spec"),
		Strategy:    resource.Strategy{HasStatus: true, NeedsResourceVersion: true},
	}
}
