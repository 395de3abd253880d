package fieldmanager

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/matryer/is"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// oneVersion is the converter of a kind that has one version.
type oneVersion struct{}

func (oneVersion) Convert(v *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return v, nil
}
func (oneVersion) IsMissingVersionError(error) bool { return false }

// updater applies as structured-merge-diff's own updater does.
func (a *application) updater(force bool) (merged map[string]any, sets fieldpath.ManagedFields, err error) {
	old := fieldpath.ManagedFields{}
	for _, e := range a.entries {
		old[e.id().text()] = fieldpath.NewVersionedSet(toSet(e.fields), fieldpath.APIVersion(e.apiVersion), e.operation == opApply)
	}
	status := "status"
	keep := fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.Path{{FieldName: &status}}))
	b := merge.UpdaterBuilder{Converter: oneVersion{}, IgnoreFilter: map[fieldpath.APIVersion]fieldpath.Filter{
		fieldpath.APIVersion(a.d.GV()): keep}}
	v, sets, err := b.BuildUpdater().Apply(a.model.typed(a.whole), a.model.typed(a.config), fieldpath.APIVersion(a.d.GV()), old, a.self.text(), force)
	if v != nil && err == nil {
		merged, _ = v.AsValue().Unstructured().(map[string]any)
	}
	return merged, sets, err
}

// TestApplyEqualsUpdater: an apply, be it one that gives something up or not, comes to what structured-merge-diff's own
// updater comes to.
func TestApplyEqualsUpdater(t *testing.T) {
	is := is.New(t)
	d := define(t, "v1", "Service", true)
	m := New()
	ports := []string{`{'port':80,'name':'a'}`, `{'port':80,'protocol':'UDP'}`, `{'port':443,'targetPort':'x'}`, `{'port':80,'name':'b'}`}
	service := func(r *rand.Rand) object.Object {
		a, b := r.IntN(len(ports)-1), 1+r.IntN(len(ports)-1)
		list := ports[a]
		if a != b && a+b != 3 { // one item of each key
			list += "," + ports[b]
		}
		return parse(t, fmt.Sprintf(`{'apiVersion':'v1','kind':'Service','metadata':{'name':'a','labels':{'l':'%d'}},
			'spec':{'ports':[%s],'selector':{'s%d':'%d'}},'status':{'conditions':[{'type':'A','status':'%d'}]}}`,
			r.IntN(2), list, r.IntN(3), r.IntN(2), r.IntN(2)))
	}
	gave := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		live := service(r)
		m.Update(d, nil, live, by("base", 1))
		live.Set("u", "metadata", "uid")
		for second := range 3 {
			if obj, _, s := m.Apply(d, live, service(r), by(fmt.Sprint("m", r.IntN(2)), 2+second), r.IntN(2) == 0); s == nil {
				live = obj
			}
		}
		entries, err := decode(live.List("metadata", "managedFields"))
		is.NoErr(err)
		a := &application{m: m, d: d, live: bare(live), config: service(r), by: by("m1", 9), entries: entries}
		is.Equal(a.read(), nil)
		force := r.IntN(2) == 0
		out, err := a.merge(force)
		merged, sets, oracle := a.updater(force)
		is.Equal(err == nil, oracle == nil) // a conflict or none
		if err != nil {
			var x, y merge.Conflicts
			is.True(errors.As(err, &x) && errors.As(oracle, &y))
			is.Equal(a.conflict(x).Message, a.conflict(y).Message) // the same one
			continue
		}
		is.Equal(out.merged, merged) // the same object
		is.Equal(len(out.entries), len(sets))
		for _, e := range out.entries {
			want := sets[e.id().text()].Set()
			if e.id() == a.self {
				want = toSet(stripped(fromSet(want)))
				gave++
			}
			is.True(toSet(e.fields).Equals(want)) // with the same owners
		}
	}
	is.True(gave > 50)
}
