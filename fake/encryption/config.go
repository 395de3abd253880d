package encryption

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/configfile"
	"github.com/kubesim/kubesim/sim/field"
)

// kind is the kind of the file.
var kind = configfile.Kind{Group: "apiserver.config.k8s.io", Kind: "EncryptionConfiguration", Versions: []string{"v1"}}

// Configuration is an EncryptionConfiguration (apiserver.config.k8s.io/v1).
type Configuration struct {
	Resources []ResourceConfiguration `json:"resources"`
}

// ResourceConfiguration configures the providers of some resources. The first one encrypts, and all of them decrypt.
type ResourceConfiguration struct {
	Resources []string                `json:"resources"` // secrets, deployments.apps, *.apps, *. or *.*
	Providers []ProviderConfiguration `json:"providers"`
}

// ProviderConfiguration has one of its fields.
type ProviderConfiguration struct {
	AESGCM    *KeysConfiguration `json:"aesgcm,omitempty"`
	AESCBC    *KeysConfiguration `json:"aescbc,omitempty"`
	Secretbox *KeysConfiguration `json:"secretbox,omitempty"`
	Identity  *struct{}          `json:"identity,omitempty"`
	KMS       *KMSConfiguration  `json:"kms,omitempty"`
}

// KeysConfiguration configures the keys of a provider. The first one encrypts, and all of them decrypt.
type KeysConfiguration struct {
	Keys []Key `json:"keys"`
}

// Key is a key of a local provider.
type Key struct {
	Name   string `json:"name"`
	Secret string `json:"secret"` // in base64
}

// KMSConfiguration configures a key management service on a unix socket.
type KMSConfiguration struct {
	APIVersion string               `json:"apiVersion"` // v1, which is the default, or v2
	Name       string               `json:"name"`
	CacheSize  *int32               `json:"cachesize,omitempty"`
	Endpoint   string               `json:"endpoint"`
	Timeout    *configfile.Duration `json:"timeout,omitempty"`
}

const (
	kmsTimeout   = configfile.Duration(3 * time.Second)
	kmsCacheSize = 1000
)

// parse decodes and validates the contents of a file. The errors are kube-apiserver's (k8s.io/apiserver/pkg/server/options/
// encryptionconfig.loadConfig).
func parse(data []byte, file string, reload bool) (*Configuration, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("error while loading file: encryption provider configuration file %q is empty", file)
	}
	c := &Configuration{}
	if _, err := kind.Decode(data, c); err != nil {
		return nil, fmt.Errorf("error decoding encryption provider configuration file %q: %w", file, err)
	}
	c.setDefaults()
	if errs := c.validate(reload); len(errs) > 0 {
		return nil, errors.New(errs.Text())
	}
	return c, nil
}

// setDefaults sets the defaults of key management services (k8s.io/apiserver/pkg/apis/apiserver/v1.SetDefaults_KMSConfiguration).
func (c *Configuration) setDefaults() {
	for _, r := range c.Resources {
		for _, p := range r.Providers {
			if p.KMS == nil {
				continue
			}
			if timeout := kmsTimeout; p.KMS.Timeout == nil {
				p.KMS.Timeout = &timeout
			}
			if p.KMS.APIVersion == "" {
				p.KMS.APIVersion = "v1"
			}
			if size := int32(kmsCacheSize); p.KMS.CacheSize == nil && p.KMS.APIVersion == "v1" {
				p.KMS.CacheSize = &size
			}
		}
	}
}

// validate returns the errors of a configuration (k8s.io/apiserver/pkg/apis/apiserver/validation.ValidateEncryptionConfiguration).
// reload reports whether the file is read again when it changes.
func (c *Configuration) validate(reload bool) (errs field.ErrorList) {
	root := field.Root("resources")
	if len(c.Resources) == 0 {
		return field.ErrorList{field.Required(root, "at least one resources is required")}
	}
	names := map[string]bool{}
	for i, r := range c.Resources {
		at, providers := root.Index(i).Child("resources"), root.Index(i).Child("providers")
		if len(r.Resources) == 0 {
			errs = append(errs, field.Required(at, fmt.Sprintf("at least one %s is required", at)))
		}
		errs = append(errs, checkOverlap(at, r.Resources)...)
		errs = append(errs, checkNames(at, r.Resources)...)
		if len(r.Providers) == 0 {
			errs = append(errs, field.Required(providers, fmt.Sprintf("at least one %s is required", providers)))
		}
		for j, p := range r.Providers {
			errs = append(errs, p.validate(providers.Index(j), names, reload)...)
		}
	}
	return errs
}

// groupOf splits a resource such as deployments.apps. The resource "*." has the core group.
func groupOf(resource string) (name, group string) {
	name, group, _ = strings.Cut(resource, ".")
	return name, group
}

// checkOverlap returns errors for resources of which one includes another.
func checkOverlap(p field.Path, resources []string) (errs field.ErrorList) {
	overlap, duplicate := false, false
	for i, a := range resources {
		for j, b := range resources {
			an, ag := groupOf(a)
			bn, bg := groupOf(b)
			switch {
			case i == j:
			case a == b:
				duplicate = true
			case a == "*.*", ag == bg && (an == "*" || bn == "*"):
				overlap = true
			}
		}
	}
	if duplicate {
		errs = append(errs, field.Invalid(p, resources, "the same resource cannot be specified multiple times"))
	}
	if overlap {
		errs = append(errs, field.Invalid(p, resources, "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"))
	}
	return errs
}

// unserved are resources that have no API.
var unserved = []string{"apiserveripinfo", "serviceipallocations", "servicenodeportallocations"}

// checkNames returns the errors of single resources.
func checkNames(p field.Path, resources []string) (errs field.ErrorList) {
	for i, r := range resources {
		name, group := groupOf(r)
		detail := ""
		switch {
		case strings.ToLower(r) != r:
			detail = "resource name should not contain capital letters"
		case r == "*":
			detail = "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
		case slices.Contains(unserved, r):
			detail = "resources which do not have REST API/s cannot be encrypted"
		case group == "events.k8s.io":
			detail = "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
		case group == "extensions":
			detail = "'extensions' group has been removed and cannot be used for encryption"
		case group == "*" && name != "*":
			detail = "encrypting the same resource across groups is not supported"
		}
		if detail != "" {
			errs = append(errs, field.Invalid(p.Index(i), r, detail))
		}
	}
	return errs
}

var (
	aesSizes       = []int{16, 24, 32}
	secretboxSizes = []int{32}
)

// validate returns the errors of a provider. names are the names of the key management services so far.
func (c *ProviderConfiguration) validate(p field.Path, names map[string]bool, reload bool) (errs field.ErrorList) {
	n := 0
	for _, given := range []bool{c.AESGCM != nil, c.AESCBC != nil, c.Secretbox != nil, c.Identity != nil, c.KMS != nil} {
		if given {
			n++
		}
	}
	switch {
	case n == 0:
		errs = append(errs, field.Invalid(p, c.printed(), "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"))
	case n > 1:
		errs = append(errs, field.Invalid(p, c.printed(), "more than one provider specified in a single element, should split into different list elements"))
	}
	switch {
	case c.KMS != nil:
		errs = append(errs, c.KMS.validate(p.Child("kms"), names, reload)...)
		names[c.KMS.Name] = true
	case c.AESGCM != nil:
		errs = append(errs, c.AESGCM.validate(p.Child("aesgcm").Child("keys"), aesSizes)...)
	case c.AESCBC != nil:
		errs = append(errs, c.AESCBC.validate(p.Child("aescbc").Child("keys"), aesSizes)...)
	case c.Secretbox != nil:
		errs = append(errs, c.Secretbox.validate(p.Child("secretbox").Child("keys"), secretboxSizes)...)
	}
	return errs
}

// printed returns the provider with the names that the real server prints.
func (c *ProviderConfiguration) printed() any {
	return struct {
		AESGCM, AESCBC, Secretbox *KeysConfiguration
		Identity                  *struct{}
		KMS                       *KMSConfiguration
	}{c.AESGCM, c.AESCBC, c.Secretbox, c.Identity, c.KMS}
}

func (c *KeysConfiguration) validate(p field.Path, sizes []int) (errs field.ErrorList) {
	if len(c.Keys) == 0 {
		return field.ErrorList{field.Required(p, "at least one keys is required")}
	}
	for i, k := range c.Keys {
		at := p.Index(i)
		if k.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), "name is a mandatory field for a key"))
		}
		secret, err := base64.StdEncoding.DecodeString(k.Secret)
		switch at = at.Child("secret"); {
		case k.Secret == "":
			errs = append(errs, field.Required(at, "secret is a mandatory field for a key"))
		case err != nil:
			errs = append(errs, field.Invalid(at, "REDACTED", "secrets must be base64 encoded"))
		case !slices.Contains(sizes, len(secret)):
			errs = append(errs, field.Invalid(at, "REDACTED", fmt.Sprintf("secret is not of the expected length, got %d, expected one of %v", len(secret), sizes)))
		}
	}
	return errs
}

func (c *KMSConfiguration) validate(p field.Path, names map[string]bool, reload bool) (errs field.ErrorList) {
	if c.Name == "" {
		errs = append(errs, field.Required(p.Child("name"), "name is a mandatory field for a provider"))
	}
	if c.APIVersion != "v1" && strings.Contains(c.Name, ":") {
		errs = append(errs, field.Invalid(p.Child("name"), c.Name, fmt.Sprintf("invalid KMS provider name %s, must not contain ':'", c.Name)))
	}
	if (reload || c.APIVersion != "v1") && names[c.Name] {
		errs = append(errs, field.Invalid(p.Child("name"), c.Name, fmt.Sprintf("duplicate KMS provider name %s, names must be unique", c.Name)))
	}
	if *c.Timeout <= 0 {
		errs = append(errs, field.Invalid(p.Child("timeout"), time.Duration(*c.Timeout).String(), "timeout should be a positive value"))
	}
	switch u, err := url.Parse(c.Endpoint); {
	case c.Endpoint == "":
		errs = append(errs, field.Invalid(p.Child("endpoint"), "", "endpoint is a mandatory field for a kms"))
	case err != nil:
		errs = append(errs, field.Invalid(p.Child("endpoint"), c.Endpoint, fmt.Sprintf("invalid endpoint for kms provider, error: %v", err)))
	case u.Scheme != "unix":
		errs = append(errs, field.Invalid(p.Child("endpoint"), c.Endpoint, fmt.Sprintf("unsupported scheme %q for KMS provider, only unix is supported", u.Scheme)))
	}
	switch {
	case c.APIVersion != "v1" && c.CacheSize != nil:
		errs = append(errs, field.Invalid(p.Child("cachesize"), int64(*c.CacheSize), "cachesize is not supported in v2"))
	case c.APIVersion == "v1" && *c.CacheSize == 0:
		errs = append(errs, field.Invalid(p.Child("cachesize"), int64(0), "cachesize should be a positive value, or negative to disable"))
	}
	if c.APIVersion != "v1" && c.APIVersion != "v2" {
		errs = append(errs, field.Invalid(p.Child("apiVersion"), c.APIVersion, "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported"))
	}
	return errs
}
