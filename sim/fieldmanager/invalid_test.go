package fieldmanager

import (
	"math/rand/v2"
	"testing"

	"github.com/matryer/is"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/kubesim/kubesim/sim/object"
)

// TestInvalidEqualsTyped checks that an object has errors if and only if structured-merge-diff rejects it.
func TestInvalidEqualsTyped(t *testing.T) {
	for _, x := range []struct{ apiVersion, kind, text string }{
		{"v1", "Pod", podText},
		{"v1", "Service", `{'metadata':{'name':'a','finalizers':['x']},'spec':{'selector':{'a':'b'},'ports':[{'port':80,'targetPort':'x'},
			{'port':80,'protocol':'UDP'}],'externalIPs':['1.2.3.4']},'status':{'conditions':[{'type':'A','status':'True'}]}}`},
		{"resource.k8s.io/v1", "ResourceClaim", `{'status':{'devices':[{'driver':'d','pool':'p','device':'x','data':{'a':[1]}}]}}`},
	} {
		t.Run(x.kind, func(t *testing.T) {
			is := is.New(t)
			model := New(Options{}).model(typeOf(define(t, x.apiVersion, x.kind, true)), false)
			wrong := 0
			for seed := range uint64(1000) {
				r := rand.New(rand.NewPCG(seed, 7))
				obj, _ := disturbed(r, map[string]any(parse(t, x.text))).(map[string]any)
				_, err := model.parser().FromUnstructured(obj)
				is.Equal(model.root.invalid(obj) != "", err != nil) // a configuration
				_, err = model.parser().FromUnstructured(obj, typed.AllowDuplicates)
				is.Equal(model.root.unreachable(obj) != "", err != nil) // an object on the server
				if err != nil {
					wrong++
				}
			}
			is.True(wrong > 200 && wrong < 900)
		})
	}
}

// disturbed returns v with one or more of its parts replaced, omitted or repeated.
func disturbed(r *rand.Rand, v any) any {
	others := []any{nil, int64(1), 1.5, "x", true, []any{}, map[string]any{}, []any{nil}, []any{map[string]any{}}, map[string]any{"name": int64(1)}}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			break
		}
		names := object.SortedKeys(v)
		switch name := names[r.IntN(len(names))]; r.IntN(12) {
		case 0:
			v[name] = others[r.IntN(len(others))]
		case 1:
			delete(v, name)
		case 2:
			v["other"] = v[name]
		default:
			v[name] = disturbed(r, v[name])
		}
		return v
	case []any:
		if len(v) == 0 {
			break
		}
		i := r.IntN(len(v))
		if r.IntN(6) == 0 {
			return append(v, v[i])
		}
		v[i] = disturbed(r, v[i])
		return v
	}
	if r.IntN(2) == 0 {
		return v
	}
	return others[r.IntN(len(others))]
}
