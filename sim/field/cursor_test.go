package field_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

func texts(errs field.ErrorList) string {
	var lines []string
	for _, e := range errs {
		lines = append(lines, e.Error())
	}
	return strings.Join(lines, "\n")
}

func TestCursorChecks(t *testing.T) {
	obj := object.Object{"spec": map[string]any{
		"mode": "C", "empty": "", "name": "a_b", "n": int64(-1), "text": "long", "list": []any{"a", "b", "a"},
		"ports": []any{map[string]any{"port": int64(70000)}, map[string]any{}},
	}}
	for _, tt := range []struct {
		name  string
		check func(at field.Cursor)
		want  string
	}{
		{"one of", func(at field.Cursor) { at.Child("mode").OneOf("A", "B") }, `spec.mode: Unsupported value: "C": supported values: "A", "B"`},
		{"absent is unchecked", func(at field.Cursor) { at.Child("none").OneOf("A").Check(field.DNS1123Label).Positive().MaxBytes(0) }, ""},
		{"absent is empty", func(at field.Cursor) { at.Child("none").OrEmpty().OneOf("A") }, `spec.none: Unsupported value: "": supported values: "A"`},
		{"absent is zero", func(at field.Cursor) { at.Child("none").OrZero().Positive() }, `spec.none: Invalid value: 0: must be greater than zero`},
		{"empty is unchecked", func(at field.Cursor) { at.Child("empty").IfGiven().OneOf("A") }, ""},
		{"required", func(at field.Cursor) { at.Child("empty").Required().OneOf("A"); at.Child("none").Required() },
			"spec.empty: Required value\nspec.none: Required value"},
		{"numbers", func(at field.Cursor) { at.Child("n").NonNegative().Range(0, 3).Max(-2, "too much") },
			"spec.n: Invalid value: -1: must be greater than or equal to 0\nspec.n: Invalid value: -1: must be between 0 and 3, inclusive\n" +
				"spec.n: Invalid value: -1: too much"},
		{"too long, too many", func(at field.Cursor) { at.Child("text").MaxBytes(3); at.Child("list").MaxItems(2) },
			"spec.text: Too long: may not be more than 3 bytes\nspec.list: Too many: 3: must have at most 2 items"},
		{"items", func(at field.Cursor) {
			for port := range at.Each("ports") {
				port.Child("port").CheckInt(field.PortNumber)
				port.RequireIf(!port.Has("port"), "why")
			}
		}, "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive\nspec.ports[1]: Required value: why"},
		{"unique", func(at field.Cursor) {
			seen := field.Seen{}
			for item := range at.Each("list") {
				item.Unique(seen)
			}
		}, `spec.list[2]: Duplicate value: "a"`},
		{"reports", func(at field.Cursor) {
			at.Child("n").InvalidIf(true, "bad").ForbidIf(true, "no").ForbidIf(false, "yes")
		},
			"spec.n: Invalid value: -1: bad\nspec.n: Forbidden: no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			at := field.CursorAt(obj, nil, "spec")
			tt.check(at)
			is.Equal(texts(at.Errors()), tt.want)
		})
	}
}

func TestCursorKnowsWhatIsStored(t *testing.T) {
	is := is.New(t)
	obj := object.Object{"a": "<x>", "b": map[string]any{}, "c": []any{"z"}}
	old := object.Object{"a": "y", "c": []any{"w"}}
	at := field.CursorAt(obj, old)
	at.Child("a").Immutable()
	at.Child("b").Immutable() // {} is absent
	for item := range at.Each("c") {
		item.Immutable() // it may be a different item
	}
	is.Equal(texts(at.Errors()), `a: Invalid value: "\u003cx\u003e": field is immutable`)
	is.Equal(len(field.CursorAt(obj, nil, "a").Immutable().Errors()), 0) // a create changes nothing
}

func TestCursorComparesWithWhatIsStored(t *testing.T) {
	is := is.New(t)
	obj := object.Object{"empty": "", "zero": int64(0), "was": "x", "spec": map[string]any{"a": "b", "list": []any{map[string]any{"c": "d"}}}}
	at := field.CursorAt(obj, object.Object{"was": "x", "spec": map[string]any{"a": "b", "none": "z"}})
	is.True(at.Child("empty").Changed())            // "" is not absent
	is.True(!at.Child("empty").OrEmpty().Changed()) // unless a missing value is ""
	is.True(!at.Child("zero").OrZero().Changed() && !at.Child("none").OrZero().Changed())
	is.True(at.Child("was").OrEmpty().With("x").Updates() == false)                 // nothing is stored of another value
	is.True(at.Child("spec", "none").Changed() && at.Child("no", "such").Updates()) // removed and absent values are known
	is.True(!at.Child("spec", "a").ReportAt(at.Child("was")).Changed())             // it is compared with the stored value at its own place
	is.True(at.Child("spec").ReportAt(at.Child("x")).Child("none").Changed())       // so are fields of it
	is.True(!at.Child("spec", "list").Index(0).Child("c").Updates() && !at.Child("spec").Was(nil).Child("a").Updates())
	is.Equal(at.Child("spec").Was(object.Object{"a": "c"}).Child("a").Immutable().Path().String(), "spec.a")
	is.Equal(texts(at.Errors()), `spec.a: Invalid value: "b": field is immutable`)
	is.Equal(at.Child("spec").Old(), object.Object{"a": "b", "none": "z"})
}

func TestCursorPaths(t *testing.T) {
	is := is.New(t)
	row := map[string]any{"b": "x"}
	for range 40 { // more places than a new report has
		row = map[string]any{"a": row, "b": "x"}
	}
	obj := object.Object{"map": map[string]any{"k": "v", "a": map[string]any{"f": "w"}}, "grid": []any{[]any{"x", nil}}, "row": row}
	at := field.CursorAt(obj, nil)
	var paths []string
	for key, entry := range at.EachKey("map") {
		paths = append(paths, key+" "+entry.Path("f").String())
	}
	for line := range at.Each("grid") {
		for cell := range line.Each() {
			paths = append(paths, cell.Child("c").Path().String())
		}
	}
	deep, none := at.Child("row"), at.Child("no", "such")
	for range 40 {
		deep = deep.Child("a")
	}
	paths = append(paths, at.Path().String(), at.Child("map").Key("none").Child("c").Path().String(), none.Child("b").Path("c").String(),
		at.Child("map", "k").ReportAt(none.Child("x")).Path().String(), deep.Path("b").String())
	is.Equal(strings.Join(paths, "\n"), "a map[a].f\nk map[k].f\ngrid[0][0].c\ngrid[0][1].c\n<nil>\nmap[none].c\nno.such.b.c\nno.such.x\nrow"+
		strings.Repeat(".a", 40)+".b")
	is.Equal(deep.String("b"), "x") // the value is the one at the path

	on := field.CursorOn(field.Root("spec").Child("x"), []any{map[string]any{}})
	for item := range on.Each() {
		is.Equal(item.Path("y").String(), "spec.x[0].y")
	}
}
