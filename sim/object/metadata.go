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

// Generation returns metadata.generation, 0 when absent.
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

// SetFinalizers sets metadata.finalizers, or removes them when there are none.
func (o Object) SetFinalizers(names []string) {
	if len(names) == 0 {
		o.Remove("metadata", "finalizers")
		return
	}
	o.Set(FromStrings(names), "metadata", "finalizers")
}

// DeletionTimestamp returns metadata.deletionTimestamp as printed, "" when absent.
func (o Object) DeletionTimestamp() string { return o.meta("deletionTimestamp") }

// DeletionGracePeriodSeconds returns metadata.deletionGracePeriodSeconds, and whether it is set.
func (o Object) DeletionGracePeriodSeconds() (int64, bool) {
	return o.Int("metadata", "deletionGracePeriodSeconds")
}

// SetMeta sets a field of metadata; an empty string, a nil and a zero generation remove it.
func (o Object) SetMeta(field string, value any) {
	switch value { // a zero grace period is kept: it means "now"
	case nil, "", int64(0):
		if field != "deletionGracePeriodSeconds" || value != int64(0) {
			o.Remove("metadata", field)
			return
		}
	}
	o.Set(value, "metadata", field)
}

// Time prints t as metadata timestamps are: RFC 3339, seconds, UTC.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Condition returns the first of status.conditions of a type, or nil (API conventions, "Typical status properties").
func (o Object) Condition(kind string) Object {
	for _, c := range o.Objects("status", "conditions") {
		if c.String("type") == kind {
			return c
		}
	}
	return nil
}
