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

// Strategy is the behaviour of one resource that differs from the generic one. Its zero value is a resource without status and
// generation whose names are DNS subdomains. All objects are in the hub version, with defaults applied; functions change their
// first object in place and never the old one.
type Strategy struct {
	// HasStatus reports that status belongs to the status subresource: a create drops it and a write of the main resource keeps the
	// old one, a write of the subresource keeps everything else.
	HasStatus bool
	// MakesStatus passes the client's status in a create to PrepareForCreate, which computes the first status from it.
	MakesStatus bool

	// DefaultsToNow is the path of a time whose default is the time of the request. It is nil if there is none.
	DefaultsToNow []string

	// SpecChanged reports whether an update increments the generation. If it is nil, generation is not tracked and a value that a
	// client sends on create is kept.
	SpecChanged func(obj, old object.Object) bool
	// CountsAsked makes SpecChanged also look at an update as requested, with fields that PrepareForUpdate drops.
	CountsAsked bool

	// AllowCreateOnUpdate lets a PUT create an object that does not exist.
	AllowCreateOnUpdate bool
	// ReadsMore reports whether a create stores fewer fields than readers see, because defaults are applied to the result of
	// PrepareForCreate only on reading: the first write then stores the defaults, even if it changes nothing else. Admission
	// validates the stored form, without these defaults. If ReadsMore is nil, a create stores all of it.
	ReadsMore func(obj object.Object) bool
	// DefaultsLate reports whether obj, as it is about to be stored, lacks defaults that its readers see, because admission,
	// PrepareForCreate or PrepareForUpdate has added fields with defaults. If DefaultsLate is nil, no object does.
	DefaultsLate func(obj object.Object) bool
	// ApplyCreates is the subresource through which an apply creates an object that does not exist, or "" if there is none.
	ApplyCreates string
	// DenyUnconditionalUpdate refuses an update without metadata.resourceVersion (AllowUnconditionalUpdate is false).
	DenyUnconditionalUpdate bool
	// ReturnDeletedObject lets a DELETE that removes the object at once answer with the object, not with a Status.
	ReturnDeletedObject bool
	// OrphansByDefault lets a DELETE without a propagation policy orphan the dependents (Job, ReplicationController).
	OrphansByDefault bool
	// PropagationWarning is the warning for a DELETE without a propagation policy, or "" if there is none.
	PropagationWarning string
	// NoGarbageCollection ignores propagation policies (Event).
	NoGarbageCollection bool
	// DeletesWith is the storage name of a resource whose object of the same name is deleted with this one (the Endpoints of a
	// Service), or "" if there is none.
	DeletesWith string
	// Uncached lets the store, not a watch cache, serve lists and watches (Event).
	Uncached bool
	// Index is a selectable field that is indexed in the watch cache (SelectionPredicate.IndexFields): a page of a list that
	// selects one value of it ends with the last object that has this value, and not with the last of the collection. If Index is
	// empty, there is none.
	Index string
	// Quota describes the usage of ResourceQuotas by the objects. Uncounted objects do not count at all, not even by their number
	// (Event).
	Quota     Quota
	Uncounted bool
	// TTL is the lifetime of an object after its last write. 0 means no limit.
	TTL time.Duration
	// Checks are the steps of validation.
	Checks Checks
	// ResetFields are the fields that writes reset to the stored values, so that they cannot own them in managedFields (KEP-555,
	// "Resetting fields"), as dotted paths by subresource, "" for the main resource. If a subresource has no entry, the rule of
	// HasStatus holds.
	ResetFields map[string][]string
	// AnyFinalizers allows finalizers without a domain, as in custom resources.
	AnyFinalizers bool
	// CustomStatus makes writes of the status subresource keep the old metadata too, as in custom resources.
	CustomStatus bool
	// Blank sets the fields that an object without any fields shows nevertheless: non-pointer numbers of the real server's internal
	// type that a version has as pointers or annotations. It is applied to bookmarks. If it is nil, there are none.
	Blank func(obj object.Object)
	// InnerAnnotation is an annotation that is a field of the internal type: partial metadata does not show it.
	InnerAnnotation string
	// Decorator returns a stored object as clients see it that read, list, watch, create or update it through the main resource, and
	// whether it differs from the stored one (genericregistry.Store.Decorator). The status subresource, pending deletions, patches,
	// and watches at the time of an event show the stored object. Decorator does not change obj. If it is nil, all clients see the
	// stored object.
	Decorator func(obj object.Object) (decorated object.Object, differs bool)
	// Observe returns the objects of a kind that is computed when it is read, and never stored. If it is nil, objects are stored.
	Observe func() []object.Object
	// Virtual objects are answered, never stored (SubjectAccessReview).
	Virtual bool

	// NameRule returns the errors of a name; prefix is true for a generateName. The default is DNS subdomain.
	NameRule func(name string, prefix bool) []string
	// NameRuleOf returns the NameRule of an object if the rule depends on the rest of the object or on the server. If it is nil,
	// NameRule is used.
	NameRuleOf func(ctx *Context, obj object.Object) func(name string, prefix bool) []string
	// PlainGenerateName uses generateName as the name, without a suffix (IPAddress).
	PlainGenerateName bool

	// PrepareForCreate resets and fills in fields before validation.
	PrepareForCreate func(ctx *Context, obj object.Object)
	// PrepareForUpdate does so for an update of the main resource or of ctx.Subresource.
	PrepareForUpdate func(ctx *Context, obj, old object.Object)
	// Validate returns the errors of a new object, metadata aside.
	Validate func(ctx *Context, obj object.Object) field.ErrorList
	// ValidateUpdate returns the errors of a changed object, metadata aside, for the main resource or for ctx.Subresource. It
	// includes the errors of Validate where the real server returns them on updates.
	ValidateUpdate func(ctx *Context, obj, old object.Object) field.ErrorList
	// Canonicalize completes a new object after its validation.
	Canonicalize func(obj object.Object)
	// ValidateFirst returns the errors of a changed object that the real server finds before it validates metadata again:
	// CheckFirst.
	ValidateFirst func(ctx *Context, obj, old object.Object) field.ErrorList
	// Warn adds warnings about a new (old is nil) or changed object through ctx.Warn.
	Warn func(ctx *Context, obj, old object.Object)
	// Allocate gives a new (old is nil) or changed object its addresses and ports, before validation, and reserves them
	// through ctx.Reservations. It returns what the allocation found wrong, or why the server failed.
	Allocate func(ctx *Context, obj, old object.Object) (field.ErrorList, *status.Status)
	// AfterDelete returns the reservations of a deleted object, which are deleted next (AfterDelete of the real server's generic
	// Store). If it is nil, there are none.
	AfterDelete func(stored Reader, obj object.Object) []Reservation
	// GracePeriod returns the seconds that a deletion waits. requested is the requested period, or nil if there is none. If
	// GracePeriod is nil, objects are deleted at once. Only pods have one.
	GracePeriod func(obj object.Object, requested *int64) int64
	// FirstDelete changes an object at the first DELETE, which only sets deletionTimestamp; the object is deleted once its
	// finalizers are removed, or by another DELETE (CustomResourceDefinition, Namespace). If it is nil, DELETE has no such first
	// step.
	FirstDelete func(ctx *Context, obj object.Object, p Propagation)
	// Undeletable returns why the object of a name must not be deleted, or "" if it may be. Only a DELETE of that one name calls
	// it: deletecollection does not. If it is nil, every object may be deleted.
	Undeletable func(name string) string
	// Held reports whether something other than metadata.finalizers keeps a deleted object (a namespace's spec.finalizers). If it
	// is nil, nothing else does.
	Held func(obj object.Object) bool

	// Fields are the fields of field selectors, beside metadata.name and metadata.namespace.
	Fields Fields
}

// Propagation is the propagation policy of a DELETE for dependents: at most one of both.
type Propagation struct {
	Policy string // "", Orphan, Background or Foreground
	Orphan *bool
}

// Context is the request a strategy works for.
type Context struct {
	Now         time.Time
	Definition  *Definition // of the version the client used
	Subresource string      // "" for the main resource
	Namespace   string
	Name        string
	DryRun      bool
	Deadline    *deadline.Deadline // ends the request; if nil, it has no deadline
	User        User
	Verb        string // of the request: create, update, patch, …
	By          Author // the author of the request's writes
	Asker       Asker  // waits for conversion webhooks; it may be nil

	// Options is the CreateOptions, UpdateOptions or DeleteOptions of the request, without kind and apiVersion. It must not be
	// changed.
	Options object.Object

	// Server is the API server that works on the request.
	Server Server

	// NoPrivileged makes the server refuse privileged containers, like one without --allow-privileged.
	NoPrivileged bool

	// ServiceCIDR is the range of addresses of services where no ServiceCIDR is stored. The zero value is 10.0.0.0/24.
	ServiceCIDR netip.Prefix

	// Found contains the errors of the validation steps before the current one.
	Found field.ErrorList

	// Warn adds a Warning header (code 299) to the answer.
	Warn func(text string)
	// May returns the 403 if User may not do something else with the request's resource, or nil if it is allowed. If May is nil,
	// everything is allowed.
	May func(Access) *status.Status
	// Objects reads the currently stored objects.
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

// Access is something that may be allowed beside what a request does. An empty Namespace or Name stands for all.
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

// Reader reads stored objects in their hub version. The objects are copies.
type Reader interface {
	// Get returns the object, or nil. storage is Definition.Storage.
	Get(storage, namespace, name string) object.Object
	// Field returns the value that a field selector compares (metadata.name, or a key of Strategy.Fields), and whether
	// the object exists. It is cheap: nothing is decoded.
	Field(storage, namespace, name, label string) (value string, exists bool)
	// All returns the objects, in key order. namespace "" means all.
	All(storage, namespace string) []object.Object
	// Item returns the object as it is stored, or nil. Nothing is decoded: see Derived.
	Item(storage, namespace, name string) *Item
	// Items calls yield for each object as it is stored, in key order, until it returns false.
	Items(storage, namespace string, yield func(*Item) bool)
}
