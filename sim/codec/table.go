package codec

import (
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// TableRow is one object of a Table, in the two forms that encoding needs.
type TableRow struct {
	Object object.Object // the object in the hub version, from which the cells are computed
	JSON   []byte        // canonical JSON in the version of the request, for the row's object
}

// TableOptions are the options of a Table.
type TableOptions struct {
	Version   string // v1 or v1beta1 of meta.k8s.io
	Include   string // includeObject: Metadata, Object or None; the default is Metadata. See CheckInclude
	Meta      ListMeta
	NoHeaders bool // columnDefinitions is null: in every event of a watch except the first
	Now       time.Time
}

// CheckInclude returns the error for an invalid query parameter includeObject of a Table, or nil if it is valid.
func CheckInclude(include string) *status.Status {
	switch include {
	case "", "Metadata", "Object", "None":
		return nil
	}
	return status.BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: "+
		"must be 'Metadata', 'Object', 'None', or empty", include)
}

// Table encodes objects as rows of cells (API concepts, "Receiving resources as Tables").
//
//	{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"12"},
//	 "columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"…","priority":0},…],
//	 "rows":[{"cells":["web",…],"conditions":[…],"object":{"kind":"PartialObjectMetadata",…}},…]}
//
// Columns and cells are those of the hub. If a resource does not define columns, they are Name and Created At.
func Table(def *resource.Definition, rows []TableRow, o TableOptions) Text {
	c := composer{own: appendHead(nil, "Table", metaGroup+o.Version)}
	c.own = o.Meta.appendJSON(append(c.own, `,"metadata":`...))
	c.own = append(c.own, `,"columnDefinitions":`...)
	columns, cells := def.Hub.Columns, def.Hub.Row
	if columns == nil || cells == nil {
		columns, cells = defaultColumns, defaultRow
	}
	if o.NoHeaders {
		c.own = append(c.own, "null"...)
	} else {
		c.own = appendColumns(c.own, columns)
	}
	c.own = append(c.own, `,"rows":`...)
	if len(rows) == 0 && def.Hub.Columns != nil && !def.Hub.NullRows { // with default columns, empty rows are null
		c.own = append(c.own, `[]}`...)
		return c.end()
	}
	for i := range rows {
		c.own = append(c.own, opening(i))
		c.row(&rows[i], cells(o.Now, rows[i].Object), &o)
	}
	c.own = append(append(c.own, closing(len(rows))...), '}')
	return c.end()
}

func appendColumns(dst []byte, columns []resource.Column) []byte {
	dst = append(dst, '[')
	start := len(dst)
	for i := range columns {
		c := &columns[i]
		dst = object.AppendString(append(separate(dst, start), `{"name":`...), c.Name)
		dst = object.AppendString(append(dst, `,"type":`...), c.Type)
		dst = object.AppendString(append(dst, `,"format":`...), c.Format)
		text := c.Description
		if c.Describe != nil {
			text = c.Describe()
		}
		dst = object.AppendString(append(dst, `,"description":`...), text)
		dst = strconv.AppendInt(append(dst, `,"priority":`...), int64(c.Priority), 10)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// row adds a row with its cells and its object.
func (c *composer) row(row *TableRow, r resource.Row, o *TableOptions) {
	c.own = object.AppendJSON(append(c.own, `{"cells":`...), r.Cells)
	if len(r.Conditions) > 0 {
		c.own = append(c.own, `,"conditions":`...)
		c.own = appendOrdered(c.own, object.JSON(r.Conditions), &conditionOrder)
	}
	c.own = append(c.own, `,"object":`...)
	switch {
	case o.Include == "Object":
		c.add(PieceOf(row.JSON))
	case o.Include == "None" && !endsInitialEvents(row.Object):
		c.own = append(c.own, "null"...)
	default:
		c.partial(row.JSON, o.Version)
	}
	c.own = append(c.own, '}')
}

var conditionOrder = order{keys: []string{"type", "status", "reason", "message"}}

// endsInitialEvents reports whether an object is the bookmark after the initial events of a watch (KEP-3157). Its annotation is
// included even if no objects are requested.
func endsInitialEvents(obj object.Object) bool {
	return obj.String("metadata", "annotations", "k8s.io/initial-events-end") == "true"
}

// defaultColumns are the columns of a resource that does not define any.
var defaultColumns = []resource.Column{
	{Name: "Name", Type: "string", Format: "name", Description: "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"},
	{Name: "Created At", Type: "date", Description: "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"},
}

func defaultRow(_ time.Time, obj object.Object) resource.Row {
	created := obj.String("metadata", "creationTimestamp")
	if created == "" {
		created = object.Time(time.Time{})
	}
	return resource.Row{Cells: []any{obj.Name(), created}}
}

// Age returns the time since created for Age columns, or "<unknown>" if created is the zero time.
func Age(now, created time.Time) string {
	if created.IsZero() {
		return "<unknown>"
	}
	return HumanDuration(now.Sub(created))
}

// HumanDuration formats a duration with one or two units, with less precision the longer it is. It formats negative durations of
// less than two seconds as 0s, because clocks may differ.
//
//	below   2m     10m      3h     8h       2d     8d      2y     8y       above
//	        119s   9m59s    179m   7h59m    47h    7d23h   729d   7y364d   8y
func HumanDuration(d time.Duration) string {
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	switch {
	case d <= -2*time.Second:
		return "<invalid>"
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return units(d, time.Second, "s", 0, "")
	case d < 10*time.Minute:
		return units(d, time.Minute, "m", time.Second, "s")
	case d < 3*time.Hour:
		return units(d, time.Minute, "m", 0, "")
	case d < 8*time.Hour:
		return units(d, time.Hour, "h", time.Minute, "m")
	case d < 2*day:
		return units(d, time.Hour, "h", 0, "")
	case d < 8*day:
		return units(d, day, "d", time.Hour, "h")
	case d < 2*year:
		return units(d, day, "d", 0, "")
	case d < 8*year:
		return units(d, year, "y", day, "d")
	}
	return units(d, year, "y", 0, "")
}

// units formats d in whole units of size large and, if small is not 0, the remainder in units of size small.
func units(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := strconv.FormatInt(int64(d/large), 10) + largeName
	if small == 0 {
		return text
	}
	if rest := d % large / small; rest > 0 {
		text += strconv.FormatInt(int64(rest), 10) + smallName
	}
	return text
}
