package fieldmanager

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// ownership is a model of ownership: the fields of a ConfigMap that each manager owns, leaf by leaf, according to the
// documentation.
type ownership struct {
	values map[string]string          // leaf → value
	owners map[string]map[string]bool // leaf → "m1 Apply"
}

func (o *ownership) leaves(entry string) (out []string) {
	for leaf, who := range o.owners { // sorted below
		if who[entry] {
			out = append(out, leaf)
		}
	}
	slices.Sort(out)
	return out
}

// update replaces the values.
func (o *ownership) update(manager string, values map[string]string) {
	for leaf := range o.values { // order does not matter
		if _, ok := values[leaf]; !ok {
			delete(o.owners, leaf)
		}
	}
	for leaf, v := range values { // order does not matter
		if old, ok := o.values[leaf]; !ok || old != v {
			o.owners[leaf] = map[string]bool{manager + " Update": true}
		}
	}
	o.values = maps.Clone(values)
}

// apply applies the values. It returns false if there is a conflict.
func (o *ownership) apply(manager string, values map[string]string, force bool) bool {
	me := manager + " Apply"
	for leaf, v := range values { // order does not matter
		for who := range o.owners[leaf] { // order does not matter
			if who != me && o.values[leaf] != v && !force {
				return false
			}
		}
	}
	for leaf, who := range o.owners { // order does not matter
		if _, ok := values[leaf]; !ok && who[me] {
			if delete(who, me); len(who) == 0 {
				delete(o.owners, leaf)
				delete(o.values, leaf)
			}
		}
	}
	for leaf, v := range values { // order does not matter
		if o.values[leaf] != v || o.owners[leaf] == nil {
			old := o.owners[leaf]
			o.owners[leaf] = map[string]bool{}
			if o.values[leaf] == v {
				o.owners[leaf] = old
			}
			if o.owners[leaf] == nil {
				o.owners[leaf] = map[string]bool{}
			}
		}
		o.values[leaf] = v
		o.owners[leaf][me] = true
	}
	return true
}

// randomValues returns random leaves of data and labels.
func randomValues(r *rand.Rand) map[string]string {
	out := map[string]string{}
	for _, leaf := range []string{"data/a", "data/b", "data/c", "labels/a", "labels/b"} {
		if r.IntN(2) == 0 {
			out[leaf] = fmt.Sprint(r.IntN(3))
		}
	}
	return out
}

// configMap returns the JSON of a ConfigMap with the values.
func configMap(values map[string]string) string {
	part := func(name string) string {
		var list []string
		for _, leaf := range slices.Sorted(maps.Keys(values)) {
			if key, ok := strings.CutPrefix(leaf, name+"/"); ok {
				list = append(list, fmt.Sprintf("'%s':'%s'", key, values[leaf]))
			}
		}
		if list == nil {
			return "'x" + name + "':null"
		}
		return "'" + name + "':{" + strings.Join(list, ",") + "}"
	}
	text := `{'metadata':{'name':'a',` + part("labels") + `},` + part("data") + `}`
	return strings.NewReplacer(",'xlabels':null", "", ",'xdata':null", "").Replace(text)
}

// ownedLeaves returns the leaves that each manager owns according to managedFields.
func ownedLeaves(obj object.Object) map[string][]string {
	out := map[string][]string{}
	for _, v := range obj.List("metadata", "managedFields") {
		e := object.As(object.Plain(v))
		name := e.String("manager") + " " + e.String("operation")
		for key := range e.Map("fieldsV1", "f:data") { // sorted below
			if key != "." {
				out[name] = append(out[name], "data/"+key[2:])
			}
		}
		for key := range e.Map("fieldsV1", "f:metadata", "f:labels") { // sorted below
			if key != "." {
				out[name] = append(out[name], "labels/"+key[2:])
			}
		}
		slices.Sort(out[name])
	}
	return out
}

func TestOwnershipEqualsModel(t *testing.T) {
	is := is.New(t)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, "v1", "ConfigMap")
		o := &ownership{values: map[string]string{}, owners: map[string]map[string]bool{}}
		for range 12 {
			manager, values := fmt.Sprint("m", r.IntN(3)), randomValues(r)
			if len(w.live.List("metadata", "managedFields")) == 0 {
				w.live, o.values, o.owners = nil, map[string]string{}, map[string]map[string]bool{}
			}
			if r.IntN(2) == 0 {
				w.update(manager, configMap(values))
				o.update(manager, values)
			} else {
				force := r.IntN(2) == 0
				s := w.apply(manager, configMap(values), force)
				is.Equal(s == nil, o.apply(manager, values, force)) // a conflict or none
			}
			have := ownedLeaves(w.live)
			for i := range 3 {
				for _, op := range []string{opApply, opUpdate} {
					name := fmt.Sprintf("m%d %s", i, op)
					is.Equal(have[name], o.leaves(name)) // the leaves of a manager
				}
			}
		}
	}
}

func TestApplyTwiceChangesNothing(t *testing.T) {
	is := is.New(t)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(t, "v1", "ConfigMap")
		for range 6 {
			manager, text := fmt.Sprint("m", r.IntN(3)), configMap(randomValues(r))
			is.Equal(w.apply(manager, text, true), nil)
			before := w.live
			is.Equal(w.apply(manager, text, true), nil)
			is.True(object.Equal(map[string]any(before), map[string]any(w.live))) // times included
		}
	}
}

func TestAppliesCommute(t *testing.T) {
	is := is.New(t)
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 3))
		base, x, y := configMap(randomValues(r)), configMap(randomValues(r)), configMap(randomValues(r))
		run := func(order ...[2]string) (*world, bool) {
			w := newWorld(t, "v1", "ConfigMap")
			w.update("base", base)
			var s1, s2 *status.Status
			s1 = w.apply(order[0][0], order[0][1], false)
			s2 = w.apply(order[1][0], order[1][1], false)
			return w, s1 == nil && s2 == nil
		}
		one, ok := run([2]string{"x", x}, [2]string{"y", y})
		two, also := run([2]string{"y", y}, [2]string{"x", x})
		if !ok || !also {
			continue
		}
		is.Equal(one.live.Map("data"), two.live.Map("data"))   // the same object
		is.Equal(one.live.Labels(), two.live.Labels())         // whichever came first
		is.Equal(ownedLeaves(one.live), ownedLeaves(two.live)) // with the same owners
	}
}
