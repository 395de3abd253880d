package pack_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/pack"
)

// pod returns the nth of a series of similar texts.
func pod(n int) []byte {
	return fmt.Appendf(nil, `{"metadata":{"name":"web-%d","uid":"%x","labels":{"app":"web"}},"spec":{%s},"status":{"podIP":"10.244.0.%d"}}`,
		n, n*7919, strings.Repeat(`"containers":[{"name":"web","image":"nginx"}],`, 4), n)
}

// noise returns random bytes.
func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return b
}

// A text reads the same after packing, regardless of its content and the state of the dictionary.
func TestBytes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := rand.New(rand.NewPCG(1, 2))
	var p pack.Packer
	var texts []*pack.Text
	var want [][]byte
	for n := range 3000 {
		var b []byte
		switch {
		case n%7 == 0: // unlike the others, so that dictionaries fill
			b = noise(r, r.IntN(3000))
		case n%50 == 1:
			b = noise(r, 20000+r.IntN(20000)) // too long for a dictionary
		case n%11 == 0 && len(want) > 0: // a part of another text
			b = want[r.IntN(len(want))]
			b = b[r.IntN(len(b)+1):]
		default:
			b = pod(n)
		}
		texts, want = append(texts, pack.New(bytes.Clone(b))), append(want, b)
		p.Pack(texts[n])
		p.Pack(texts[r.IntN(n+1)]) // packing it again is a no-op
	}
	for n, text := range texts {
		if !bytes.Equal(text.Bytes(), want[n]) {
			t.Fatalf("text %d: %q, want %q", n, text.Bytes(), want[n])
		}
	}
	var buffer []byte
	for n, text := range texts {
		is.Equal(text.Len(), len(want[n]))
		is.True(bytes.Equal(text.View(&buffer), want[n])) // in a buffer that others have used
		most := r.IntN(len(want[n]) + 10)
		is.True(bytes.Equal(text.Head(make([]byte, most)), want[n][:min(most, len(want[n]))]))
	}
	is.Equal((*pack.Text)(nil).Bytes(), nil)
	p.Pack(nil)
}

// Similar texts shrink to a fraction of their size, and other texts never grow.
func TestSize(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var p pack.Packer
	packed, size := 0, 0
	for n := range 1000 {
		text := pack.New(pod(n))
		p.Pack(text)
		if n > 0 {
			packed, size = packed+text.Size(), size+len(pod(n))
		}
	}
	is.True(packed*5 < size)
	short := pack.New([]byte("short"))
	p.Pack(short)
	is.Equal(short.Size(), 5)
}

// A literal that many texts have is copied from the dictionary, although these texts were packed well without it: an image's digest,
// which pods have only after they were started, takes no memory in later pods.
func TestRecurring(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var p pack.Packer
	digest := noise(rand.New(rand.NewPCG(1, 2)), 120)
	size := func(n int, digest []byte) int {
		text := pack.New(fmt.Appendf(nil, `{"pod":"web-%d",%s,"image":"%s","ready":true%s}`, n, strings.Repeat(`"field":"value"`, 60), digest, strings.Repeat(" ", 60)))
		p.Pack(text)
		return text.Size()
	}
	size(0, nil)
	for n := range 8 {
		is.True(size(1+n, digest) > 120) // no dictionary has the digest yet
	}
	size(9, digest)
	is.True(size(10, digest) < 60)
}

// Goroutines may read texts while others are packed, also by two packers, as the stores of two forks do.
func TestReaders(t *testing.T) {
	t.Parallel()
	var p, other pack.Packer
	var texts []*pack.Text
	for n := range 500 {
		texts = append(texts, pack.New(pod(n)))
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for n, text := range texts {
				if !bytes.Equal(text.Bytes(), pod(n)) {
					t.Errorf("text %d is %q", n, text.Bytes())
				}
			}
		})
	}
	group.Go(func() {
		for _, text := range texts {
			other.Pack(text)
		}
	})
	for _, text := range texts {
		p.Pack(text)
	}
	group.Wait()
}

func FuzzPack(f *testing.F) {
	f.Add(pod(1), pod(2))
	f.Add([]byte(strings.Repeat("a", 500)), []byte(strings.Repeat("a", 200)))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var p pack.Packer
		for _, want := range [][]byte{a, b, a} {
			text := pack.New(bytes.Clone(want))
			p.Pack(text)
			if !bytes.Equal(text.Bytes(), want) {
				t.Fatalf("%q, want %q", text.Bytes(), want)
			}
		}
	})
}

// BenchmarkPack packs similar texts.
func BenchmarkPack(b *testing.B) {
	var texts [][]byte
	for n := range 1000 {
		texts = append(texts, pod(n))
	}
	var p pack.Packer
	n := 0
	b.SetBytes(int64(len(texts[0])))
	for b.Loop() {
		p.Pack(pack.New(texts[n%len(texts)]))
		n++
	}
}
