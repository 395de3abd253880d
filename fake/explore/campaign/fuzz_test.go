package campaign_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// FuzzParse checks that the text form of a parsed plan is parsed to the same plan.
func FuzzParse(f *testing.F) {
	f.Add(plan)
	f.Add("# a\nat 1s do edit a b {}\nafter x 1 do crash x 1ns stale=9 0s\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := campaign.Parse(text)
		if err != nil {
			return
		}
		again, err := campaign.Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%v\n%s\n%s", err, p, again)
		}
	})
}

// FuzzPatch checks that a patch can be drawn for any schema, and that shrinking it ends.
func FuzzPatch(f *testing.F) {
	f.Add(uint64(1), []byte(schema), []byte(`{"size":3}`))
	f.Add(uint64(2), []byte(`{"properties":{"a":{"type":"string","minLength":1e18},"b":{"type":"array","minItems":-3}}}`), []byte(`{"a":"b"}`))
	f.Fuzz(func(_ *testing.T, seed uint64, schema, spec []byte) {
		patch := campaign.RandomPatch(rand.New(rand.NewPCG(seed, 0)), campaign.Object{Schema: schema, Spec: spec})
		p := campaign.Plan{Items: []campaign.Item{{Step: campaign.Step{Do: campaign.Edit{Resource: "a", Key: "b", Patch: string(patch)}}}}}
		runs := 0
		campaign.Shrink(p, func(q campaign.Plan) bool {
			runs++
			return len(q.Items) > 0 && runs < 1000
		})
	})
}

// FuzzHang checks that Hang does not panic for any output of a process.
func FuzzHang(f *testing.F) {
	f.Add("goroutine 7 [sync.Mutex.Lock, synctest bubble 3]:\nsync.(*Mutex).lockSlow(0xc000012345)\n\t/a/b.go:3 +0x1\n\ngoroutine 8 [sleep (durable)]:\nmain.f(0xc000012340)\n\tx.go:1\n")
	f.Add("goroutine 1 []:\n(")
	f.Fuzz(func(_ *testing.T, text string) {
		campaign.Hang(text)
	})
}

// FuzzMerge checks that kubesim sweep --merge does not panic for any log.
func FuzzMerge(f *testing.F) {
	f.Add("PASS\n{\"test\":\"T\",\"shard\":\"1/2\",\"done\":true,\"runs\":3,\"sequences\":[1]}\n{\"test\":\"T\",\"shard\":\"2/2\",\"seed\":4,\"plan\":\"at 1s do touch\"}\n", "2/8")
	f.Fuzz(func(t *testing.T, text, shard string) {
		m, err := campaign.Merge(strings.NewReader(text))
		if err == nil && m.Runs < 0 {
			t.Fatal(m.Runs)
		}
		if s, err := campaign.ParseShard(shard); err == nil && (s.I < 1 || s.I > s.N) {
			t.Fatal(s)
		}
	})
}
