package object

import "time"

// Kind returns kind.
func (o Object) Kind() string { return text(o["kind"]) }

// APIVersion returns apiVersion.
func (o Object) APIVersion() string { return text(o["apiVersion"]) }

// Metadata returns metadata, or nil.
func (o Object) Metadata() map[string]any {
	m, _ := o["metadata"].(map[string]any)
	return m
}

func (o Object) meta(name string) string { return text(o.Metadata()[name]) }

func text(v any) string {
	s, _ := v.(string)
	return s
}

// Name returns metadata.name.
func (o Object) Name() string { return o.meta("name") }

// GenerateName returns metadata.generateName.
func (o Object) GenerateName() string { return o.meta("generateName") }

// Namespace returns metadata.namespace.
func (o Object) Namespace() string { return o.meta("namespace") }

// UID returns metadata.uid.
func (o Object) UID() string { return o.meta("uid") }

// ResourceVersion returns metadata.resourceVersion.
func (o Object) ResourceVersion() string { return o.meta("resourceVersion") }

// Generation returns metadata.generation, or 0.
func (o Object) Generation() int64 {
	n, _ := o.Int("metadata", "generation")
	return n
}

// Labels returns metadata.labels.
func (o Object) Labels() map[string]string { return StringMap(o.Map("metadata", "labels")) }

// Annotations returns metadata.annotations.
func (o Object) Annotations() map[string]string { return StringMap(o.Map("metadata", "annotations")) }

// Finalizers returns metadata.finalizers.
func (o Object) Finalizers() []string { return Strings(o.List("metadata", "finalizers")) }

// SetFinalizers sets metadata.finalizers. It removes the field if names is empty.
func (o Object) SetFinalizers(names []string) {
	if len(names) == 0 {
		o.Remove("metadata", "finalizers")
		return
	}
	o.Set(FromStrings(names), "metadata", "finalizers")
}

// DeletionTimestamp returns metadata.deletionTimestamp as a string, or "".
func (o Object) DeletionTimestamp() string { return o.meta("deletionTimestamp") }

// DeletionGracePeriodSeconds returns metadata.deletionGracePeriodSeconds, and whether it is set.
func (o Object) DeletionGracePeriodSeconds() (int64, bool) {
	return o.Int("metadata", "deletionGracePeriodSeconds")
}

// SetMeta sets a field of metadata. If value is "" or nil, it removes the field. It also does so for 0, except in
// deletionGracePeriodSeconds.
func (o Object) SetMeta(field string, value any) {
	switch value { // a grace period of zero is kept: it means immediate deletion
	case nil, "", int64(0):
		if field != "deletionGracePeriodSeconds" || value != int64(0) {
			o.Remove("metadata", field)
			return
		}
	}
	o.Set(value, "metadata", field)
}

// Time returns t in the format of metadata timestamps: RFC 3339 in UTC, with a precision of seconds.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Condition returns the first condition of the given type in status.conditions, or nil (API conventions, "Typical status
// properties").
func (o Object) Condition(kind string) Object {
	for _, c := range o.Objects("status", "conditions") {
		if c.String("type") == kind {
			return c
		}
	}
	return nil
}
