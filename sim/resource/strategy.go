package resource

import (
	"net/netip"
	"time"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/deadline"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// KeptForStatus are the metadata fields that metav1.ResetObjectMetaForStatus resets: the value of StatusKeeps for most kinds.
var KeptForStatus = []string{"deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"}

// Strategy holds the behaviour of one resource that differs from the generic behaviour. The zero value is a resource without status
// and generation whose names are DNS subdomains. All objects are in the hub version, with defaults applied. Functions may change
// their first object in place, but not the old one.
type Strategy struct {
	// HasStatus reports that status belongs to the status subresource: a create drops it, a write of the main resource keeps the old
	// one, and a write of the subresource keeps everything else.
	HasStatus bool
	// MakesStatus keeps the client's status in a create for PrepareForCreate, which computes the initial status from it.
	MakesStatus bool

	// DefaultsToNow is the path of a time field whose default is the time of the request, or nil if the kind has no such field.
	DefaultsToNow []string

	// SpecChanged reports whether an update increments the generation. If it is nil, the generation is not tracked, and a value that
	// a client sends on create is kept.
	SpecChanged func(obj, old object.Object) bool
	// CountsAsked also increments the generation if SpecChanged is true before PrepareForUpdate drops fields from the client's
	// object.
	CountsAsked bool

	// AllowCreateOnUpdate allows a PUT to create an object that does not exist.
	AllowCreateOnUpdate bool
	// ReadsMore reports whether a create stores fewer fields than readers see, because the defaults for the result of
	// PrepareForCreate are applied only on reading. The first update then stores the defaults, even if it changes nothing else.
	// Admission validates the stored form, without these defaults. If ReadsMore is nil, a create stores all fields.
	ReadsMore func(obj object.Object) bool
	// DefaultsLate reports whether obj, before it is stored, lacks defaults that its readers see. This happens if admission,
	// PrepareForCreate or PrepareForUpdate has added fields with defaults. If DefaultsLate is nil, no object lacks any.
	DefaultsLate func(obj object.Object) bool
	// ApplyCreates is the subresource through which an apply may create an object that does not exist, or "" if there is none.
	ApplyCreates string
	// DenyUnconditionalUpdate rejects an update without metadata.resourceVersion (AllowUnconditionalUpdate is false).
	DenyUnconditionalUpdate bool
	// ReturnDeletedObject makes a DELETE that removes the object at once return the object instead of a Status.
	ReturnDeletedObject bool
	// LenientUnstable sets ReturnDeletedObject, and clears DenyUnconditionalUpdate, for versions that are not stable
	// (DeviceTaintRule).
	LenientUnstable bool
	// OrphansByDefault makes a DELETE without a propagation policy orphan the dependents (Job, ReplicationController).
	OrphansByDefault bool
	// PropagationWarning is the warning for a DELETE without a propagation policy, or "" if there is none.
	PropagationWarning string
	// NoGarbageCollection makes a DELETE ignore propagation policies (Event).
	NoGarbageCollection bool
	// DeletesWith is the storage name of another resource, or "" if there is none. If an object is deleted, the object of that
	// resource with the same name is deleted, too (the Endpoints of a Service).
	DeletesWith string
	// Uncached serves lists and watches from the store, not from a watch cache (Event).
	Uncached bool
	// Index is a selectable field that is indexed in the watch cache (SelectionPredicate.IndexFields), or "" if there is none. The
	// last page of a list that selects one value of it ends with the last object that has this value, and not with the last object
	// of the collection.
	Index string
	// Quota describes the usage of ResourceQuotas by the objects. Uncounted objects do not count towards any quota, not even by
	// their number (Event).
	Quota     Quota
	Uncounted bool
	// TTL is the time after its last write at which an object is deleted. If it is 0, objects do not expire.
	TTL time.Duration
	// Checks lists the steps of validation.
	Checks Checks
	// NotDeclarative reports that the kind has no declarative validation, because the aggregator or apiextensions-apiserver
	// serves it.
	NotDeclarative bool
	// ResetFields lists the fields that writes reset to the stored values and therefore cannot own in managedFields (KEP-555,
	// "Resetting fields"). They are dotted paths by subresource, "" for the main resource. If a subresource has no entry, HasStatus
	// determines its fields.
	ResetFields map[string][]string
	// AnyFinalizers allows finalizers without a domain, as in custom resources.
	AnyFinalizers bool
	// CustomStatus makes writes of the status subresource keep the old metadata, as in custom resources.
	CustomStatus bool
	// StatusKeeps are the metadata fields that a write of the status subresource keeps if CustomStatus is not set. In most kinds that
	// have them, they are KeptForStatus.
	StatusKeeps []string
	// Blank sets the fields that even an empty object has in responses, because they are non-pointer numbers in the real server's
	// internal type, but pointers or annotations in the version. It is applied to bookmarks. If it is nil, there are no such fields.
	Blank func(obj object.Object)
	// InnerAnnotation is an annotation that is a field of the internal type, so that partial metadata omits it.
	InnerAnnotation string
	// Decorator returns the object that clients see if they read, list, watch, create or update a stored object through the main
	// resource, and whether it differs from the stored one (genericregistry.Store.Decorator). The status subresource, pending
	// deletions, patches, and watches at the time of an event return the stored object. Decorator does not change obj. If it is nil,
	// clients always see the stored object.
	Decorator func(obj object.Object) (decorated object.Object, differs bool)
	// Observe returns the objects of a kind that is computed on each read and never stored. If it is nil, objects are stored.
	Observe func() []object.Object
	// Virtual objects are sent as a response, but never stored (SubjectAccessReview).
	Virtual bool

	// NameRule returns the errors of a name. prefix is true for a generateName. The default is the rule for DNS subdomains.
	NameRule func(name string, prefix bool) []string
	// NameRuleOf returns the NameRule of an object if the rule depends on the rest of the object or on the server. If it is nil,
	// NameRule is used.
	NameRuleOf func(ctx *Context, obj object.Object) func(name string, prefix bool) []string
	// PlainGenerateName uses generateName as the name, without a suffix (IPAddress).
	PlainGenerateName bool

	// PrepareForCreate resets and fills in fields before validation.
	PrepareForCreate func(ctx *Context, obj object.Object)
	// PrepareForUpdate resets and fills in fields before the validation of an update of the main resource or of ctx.Subresource.
	PrepareForUpdate func(ctx *Context, obj, old object.Object)
	// Validate returns the errors of a new object, except for its metadata.
	Validate func(ctx *Context, obj object.Object) field.ErrorList
	// ValidateUpdate returns the errors of a changed object, except for its metadata, for the main resource or for ctx.Subresource.
	// It includes the errors of Validate if the real server returns them on updates.
	ValidateUpdate func(ctx *Context, obj, old object.Object) field.ErrorList
	// Canonicalize completes a valid new object before it is stored.
	Canonicalize func(obj object.Object)
	// ValidateFirst returns the errors of a changed object that the real server finds before it validates metadata again (see
	// CheckFirst).
	ValidateFirst func(ctx *Context, obj, old object.Object) field.ErrorList
	// Warn adds warnings about a new (old is nil) or changed object through ctx.Warn.
	Warn func(ctx *Context, obj, old object.Object)
	// Allocate allocates addresses and ports for a new (old is nil) or changed object before validation, and reserves them through
	// ctx.Reservations. It returns validation errors, or a Status if the server failed.
	Allocate func(ctx *Context, obj, old object.Object) (field.ErrorList, *status.Status)
	// AfterDelete returns the reservations of a deleted object, which are then deleted, too (AfterDelete of the real server's
	// generic Store). If it is nil, there are none.
	AfterDelete func(stored Reader, obj object.Object) []Reservation
	// GracePeriod returns the grace period of a deletion in seconds. requested is the requested period, or nil if there is none. If
	// GracePeriod is nil, objects are deleted at once. Only pods have a grace period.
	GracePeriod func(obj object.Object, requested *int64) int64
	// FirstDelete changes an object at the first DELETE, which only sets deletionTimestamp. The object is removed once its
	// finalizers are removed, or by another DELETE (CustomResourceDefinition, Namespace). If it is nil, DELETE has no such first
	// step.
	FirstDelete func(ctx *Context, obj object.Object, p Propagation)
	// Undeletable returns the reason why the named object must not be deleted, or "" if it may be. It applies to a DELETE of one
	// object, but not to deletecollection. If it is nil, every object may be deleted.
	Undeletable func(name string) string
	// Held reports whether something other than metadata.finalizers keeps a deleted object, such as a namespace's spec.finalizers.
	// If it is nil, nothing else does.
	Held func(obj object.Object) bool

	// Fields are the fields that field selectors support, in addition to metadata.name and metadata.namespace.
	Fields Fields
}

// Propagation is the propagation policy of a DELETE for dependents. At most one of its fields is set.
type Propagation struct {
	Policy string // "", Orphan, Background or Foreground
	Orphan *bool
}

// Context describes the request for which a strategy is called.
type Context struct {
	Now         time.Time
	Definition  *Definition // in the version of the request
	Subresource string      // "" for the main resource
	Namespace   string
	Name        string
	DryRun      bool
	Deadline    *deadline.Deadline // ends the request; if nil, the request has no deadline
	User        User
	Verb        string // of the request: create, update, patch, …
	By          Author // the author of the request's writes
	Asker       Asker  // waits for conversion webhooks; it may be nil

	// Options is the CreateOptions, UpdateOptions or DeleteOptions of the request, without kind and apiVersion. It must not be
	// changed.
	Options object.Object

	// Server is the API server that handles the request.
	Server Server

	// NoPrivileged rejects privileged containers, like a server without --allow-privileged.
	NoPrivileged bool

	// ServiceCIDRs are the configured address ranges of services: one, or one of each IP family. If empty, it is 10.0.0.0/24.
	ServiceCIDRs []netip.Prefix

	// Found contains the errors of the validation steps before the current one.
	Found field.ErrorList

	// Warn adds a Warning header (code 299) to the response.
	Warn func(text string)
	// Audit adds an annotation to the audit event of the request. It may be nil; strategies call Annotate instead.
	Audit func(key, value string)
	// May returns a 403 if User lacks an additional right on the request's resource, and nil otherwise. If May is nil, everything is
	// allowed.
	May func(Access) *status.Status
	// Objects reads the stored objects.
	Objects Reader
	// Reservations is used by Allocate. It is nil for a dry run, which reserves nothing.
	Reservations Reservations
	// Random returns a number in [0, n) from the Cluster's seeded generator for allocations.
	Random func(n int) int
	// UID returns a new uid from the Cluster's seeded generator.
	UID func() string
	// Tokens signs the tokens of service accounts.
	Tokens *token.Authority
}

// Annotate adds an annotation to the audit event of the request. If the request has no audit event, it does nothing.
func (ctx *Context) Annotate(key, value string) {
	if ctx.Audit != nil {
		ctx.Audit(key, value)
	}
}

// Access is a right that a request needs in addition to that for the request itself. An empty Namespace or Name means all.
type Access struct {
	Verb, Subresource, Namespace, Name string
	Resource                           string // of the same group; the default is the request's own
}

// User is the user that sends a request.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// Info returns the user as a UserInfo of authentication.k8s.io/v1.
func (u User) Info() map[string]any {
	m := map[string]any{}
	if u.Name != "" {
		m["username"] = u.Name
	}
	if u.UID != "" {
		m["uid"] = u.UID
	}
	if len(u.Groups) > 0 {
		m["groups"] = object.FromStrings(u.Groups)
	}
	if len(u.Extra) > 0 {
		extra := map[string]any{}
		for key, values := range u.Extra { // order does not matter
			extra[key] = object.FromStrings(values)
		}
		m["extra"] = extra
	}
	return m
}

// Reader reads stored objects in their hub version.
type Reader interface {
	// Get returns a copy of the object, or nil. storage is Definition.Storage.
	Get(storage, namespace, name string) object.Object
	// Field returns the value of a field label (metadata.name, or a key of Strategy.Fields), and whether the object exists. It is
	// cheap: nothing is decoded.
	Field(storage, namespace, name, label string) (value string, exists bool)
	// All returns copies of the objects, sorted by key. If namespace is "", it returns those of all namespaces.
	All(storage, namespace string) []object.Object
	// Item returns the stored item, or nil. Nothing is decoded: see Derived.
	Item(storage, namespace, name string) *Item
	// Items calls yield with each stored item, sorted by key, until it returns false.
	Items(storage, namespace string, yield func(*Item) bool)
}
