package token

import "testing"

func BenchmarkSign(b *testing.B) {
	a, _ := New(Options{})
	for b.Loop() {
		a.Sign(claims())
	}
}

func BenchmarkCheck(b *testing.B) {
	a, _ := New(Options{})
	text := a.Sign(claims())
	for b.Loop() {
		if h, _, err := a.Check(text, a.Audiences(), now, accounts); h == nil || err != nil {
			b.Fatal(err)
		}
	}
}
