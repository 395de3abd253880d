package codec

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// podDefinition returns a resource with one column and a condition in every row.
func podDefinition() *resource.Definition {
	def := &resource.Definition{
		Columns: []resource.Column{{Name: "Name", Type: "string", Format: "name", Description: "d", Priority: 1}},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return resource.Row{Cells: []any{obj.Name(), int64(2), nil}, Conditions: []any{
				map[string]any{"message": "m", "status": "True", "type": "Completed", "reason": "r"}}}
		},
	}
	def.Hub = def
	return def
}

func tableRow(t *testing.T, b []byte) TableRow {
	obj, err := object.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return TableRow{Object: obj, JSON: b}
}

func TestTable(t *testing.T) {
	is := is.New(t)
	def, rows := podDefinition(), []TableRow{tableRow(t, podB)}
	const head = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},"columnDefinitions":`
	const columns = `[{"name":"Name","type":"string","format":"name","description":"d","priority":1}],"rows":`
	const row = `[{"cells":["b",2,null],"conditions":[{"type":"Completed","status":"True","reason":"r","message":"m"}],"object":`
	const partial = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"b"}}`
	o := TableOptions{Version: "v1", Meta: ListMeta{ResourceVersion: "5"}}
	is.Equal(string(Table(def, rows, o).Bytes()), head+columns+row+partial+`}]}`) // metadata of the object by default
	is.Equal(string(Table(def, nil, o).Bytes()), head+columns+`[]}`)
	o.Include = "Object"
	is.Equal(string(Table(def, rows, o).Bytes()), head+columns+row+string(podB)+`}]}`) // the whole object
	o.Include = "None"
	is.Equal(string(Table(def, rows, o).Bytes()), head+columns+row+`null}]}`) // no object
	o.NoHeaders = true
	is.Equal(string(Table(def, rows, o).Bytes()), head+`null,"rows":`+row+`null}]}`) // a later event of a watch
	bookmark := tableRow(t, []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}`))
	is.True(strings.Contains(string(Table(def, []TableRow{bookmark}, o).Bytes()),
		`"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}`)) // the annotation stays visible
}

func TestTableDefaultColumns(t *testing.T) {
	is := is.New(t)
	def := &resource.Definition{}
	def.Hub = def
	o := TableOptions{Version: "v1beta1", Include: "None", NoHeaders: true}
	const head = `{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1","metadata":{},"columnDefinitions":null,"rows":`
	is.Equal(string(Table(def, nil, o).Bytes()), head+`null}`) // the default convertor has no rows
	is.Equal(string(Table(def, []TableRow{tableRow(t, widgetA), tableRow(t, podB)}, o).Bytes()),
		head+`[{"cells":["a","2000-01-01T00:00:00Z"],"object":null},{"cells":["b","0001-01-01T00:00:00Z"],"object":null}]}`)
	o.NoHeaders = false
	is.True(strings.Contains(string(Table(def, nil, o).Bytes()), `{"name":"Created At","type":"date","format":"","description":"CreationTimestamp is`))
}

func TestCheckInclude(t *testing.T) {
	is := is.New(t)
	for _, ok := range []string{"", "None", "Object", "Metadata"} {
		is.True(CheckInclude(ok) == nil) // a known word
	}
	is.Equal(CheckInclude("object").Message,
		`Unable to convert to Table as requested: includeObject: Invalid value: "object": must be 'Metadata', 'Object', 'None', or empty`)
}

func TestAge(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	is := is.New(t)
	is.Equal(Age(now, time.Time{}), "<unknown>")
	is.Equal(Age(now, now.Add(-90*time.Second)), "90s")
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	for d, want := range map[time.Duration]string{
		-3 * time.Second: "<invalid>", -2 * time.Second: "<invalid>", -1999 * time.Millisecond: "0s", 0: "0s",
		999 * time.Millisecond: "0s", time.Second: "1s", 119 * time.Second: "119s", 120 * time.Second: "2m",
		150 * time.Second: "2m30s", 10*time.Minute - 1: "9m59s", 10 * time.Minute: "10m", 179*time.Minute + 59*time.Second: "179m",
		3 * time.Hour: "3h", 3*time.Hour + 59*time.Second: "3h", 3*time.Hour + 5*time.Minute: "3h5m", 8*time.Hour - 1: "7h59m",
		8*time.Hour + 30*time.Minute: "8h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 52 * time.Hour: "2d4h",
		8*day - 1: "7d23h", 8 * day: "8d", 2*year - 1: "729d", 2 * year: "2y", 2*year + day: "2y1d", 8*year - 1: "7y364d",
		8 * year: "8y", 20*year + 40*day: "20y",
	} {
		is.Equal(HumanDuration(d), want) // two units at most
	}
}

func BenchmarkTableRow(b *testing.B) {
	def := podDefinition()
	obj, _ := object.Parse(podA)
	rows := make([]TableRow, 100)
	for i := range rows {
		rows[i] = TableRow{Object: obj, JSON: podA}
	}
	b.ReportAllocs()
	for range b.N / len(rows) {
		Table(def, rows, TableOptions{Version: "v1"})
	}
}
