// Package authorization reads the file of kube-apiserver's --authorization-config (Kubernetes documentation, "Authorization"; KEP-3221).
//
//	FILE ─ File.Read ─▶ names of authorizers in their order ─▶ config.Cluster.Authorizers
//	  └─ changes ─ File.Reload ─▶ Cluster.SetAuthorizers
//
// Authorizers of the type Webhook are errors, because kubesim does not simulate them.
package authorization

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/fake/configfile"
	"github.com/kubesim/kubesim/sim/field"
)

// kind is the kind of the file.
var kind = configfile.Kind{Group: "apiserver.config.k8s.io", Kind: "AuthorizationConfiguration", Versions: []string{"v1", "v1beta1", "v1alpha1"}}

// configuration is an AuthorizationConfiguration.
type configuration struct {
	Authorizers []struct {
		Type    string         `json:"type"`
		Name    string         `json:"name"`
		Webhook map[string]any `json:"webhook,omitempty"`
	} `json:"authorizers"`
}

// types are the types of authorizers, sorted.
var types = []string{"ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"}

// File is a file of --authorization-config. The zero value is no file.
type File struct {
	mu      sync.Mutex
	file    configfile.Watched
	started []string // the authorizers with which the server has started
	current []string
}

// Setter changes the authorizers of a running cluster.
type Setter interface{ SetAuthorizers(names []string) }

// Read reads the file with the given name and returns the authorizers. It returns kube-apiserver's error if the file is invalid
// (pkg/kubeapiserver/options.BuiltInAuthorizationOptions).
func Read(name string) (*File, []string, error) {
	f := &File{file: configfile.Watched{Name: name}}
	f.file.Changed()
	var err error
	f.started, err = f.read()
	if err != nil {
		return nil, nil, fmt.Errorf("failed to load AuthorizationConfiguration from file: %w", err)
	}
	f.current = f.started
	return f, f.started, nil
}

// Reload reads the file if it has changed. If it is valid and has only types that it had at the start, to.SetAuthorizers is called.
func (f *File) Reload(to Setter) {
	if f == nil || !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	if !f.file.Changed() {
		return
	}
	names, err := f.read()
	added := func(name string) bool { return !slices.Contains(f.started, name) }
	if err != nil || slices.ContainsFunc(names, added) || slices.Equal(names, f.current) {
		return
	}
	f.current = names
	to.SetAuthorizers(names)
}

func (f *File) read() ([]string, error) {
	data, err := os.ReadFile(f.file.Name)
	if err != nil {
		return nil, err
	}
	return parse(data)
}

// parse parses a file and returns the authorizers.
func parse(data []byte) ([]string, error) {
	var c configuration
	if _, err := kind.Decode(data, &c); err != nil {
		return nil, err
	}
	if errs := c.validate(); len(errs) > 0 {
		return nil, errors.New(errs.Text())
	}
	var names []string
	for _, a := range c.Authorizers {
		names = append(names, a.Type)
	}
	return names, nil
}

// validate returns the errors of a configuration (ValidateAuthorizationConfiguration).
func (c *configuration) validate() (errs field.ErrorList) {
	root := field.Root("authorizers")
	if len(c.Authorizers) == 0 {
		return field.ErrorList{field.Required(root, "at least one authorization mode must be defined")}
	}
	seenTypes, seenNames := map[string]bool{}, map[string]bool{}
	for i, a := range c.Authorizers {
		p := root.Index(i)
		switch {
		case a.Type == "":
			errs = append(errs, field.Required(p.Child("type"), ""))
			continue
		case !slices.Contains(types, a.Type):
			errs = append(errs, field.NotSupported(p.Child("type"), a.Type, types...))
			continue
		case a.Type == "Webhook" || a.Type == "ABAC":
			errs = append(errs, field.Forbidden(p.Child("type"), "kubesim does not simulate authorizers of the type "+a.Type))
			continue
		case seenTypes[a.Type]:
			errs = append(errs, field.Duplicate(p.Child("type"), a.Type))
			continue
		}
		seenTypes[a.Type] = true
		switch wrong := field.DNS1123Subdomain(a.Name); {
		case a.Name == "":
			errs = append(errs, field.Required(p.Child("name"), ""))
		case seenNames[a.Name]:
			errs = append(errs, field.Duplicate(p.Child("name"), a.Name))
		case len(wrong) > 0:
			errs = append(errs, field.Invalid(p.Child("name"), a.Name, "authorizer name is invalid: "+strings.Join(wrong, ", ")))
		}
		seenNames[a.Name] = true
		if a.Webhook != nil {
			errs = append(errs, field.Invalid(p.Child("webhook"), "non-null", "may only be specified when type=Webhook"))
		}
	}
	return errs
}
