package kubelet

import (
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/matryer/is"
)

func TestReference(t *testing.T) {
	is := is.New(t)
	for image, want := range map[string]string{
		"nginx":                     "docker.io/library/nginx:latest",
		"nginx:1.29":                "docker.io/library/nginx:1.29",
		"bitnami/redis":             "docker.io/bitnami/redis:latest",
		"registry.k8s.io/pause:3.9": "registry.k8s.io/pause:3.9",
		"localhost:5000/app":        "localhost:5000/app:latest",
		"localhost/app":             "localhost/app:latest",
		"nginx@sha256:abc":          "docker.io/library/nginx@sha256:abc",
	} {
		is.Equal(reference(image), want)
		is.Equal(reference(want), want)
	}
}

func TestWellFormed(t *testing.T) {
	is := is.New(t)
	for image, want := range map[string]bool{"nginx": true, "registry.Example.com/a/b-c_d.e:V1": true, "Nginx": false, "a//b": false,
		"/a": false, "": false, "a b": false, "nginx:Latest": true, ":tag": false} {
		is.Equal(wellFormed(image), want)
	}
}

func TestAbsent(t *testing.T) {
	is := is.New(t)
	is.Equal(absent("nginx"), "")
	is.Equal(absent("web:404"), `rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/web:404": `+
		`failed to resolve reference "docker.io/library/web:404": docker.io/library/web:404: not found`)
	is.True(absent("example.com/does-not-exist:1") != "")
}

// An annotation for a container goes before one for all, which goes before what is said of the image.
func TestScripted(t *testing.T) {
	is := is.New(t)
	pod := object.Object{"metadata": map[string]any{"annotations": map[string]any{"kubesim.io/exit-code": "2", "kubesim.io/c.exit-code": "3",
		"kubesim.io/log": "a\n+5s b\n*10s c", "kubesim.io/start-delay": "0s", "example.com/exit-code": "9"}}}
	known := map[string]Image{"i": {Exit: &Exit{After: time.Minute, Code: 1}, CPU: "2"}}
	x, err := scripted(known, pod, "c", "i:latest")
	is.NoErr(err)
	is.Equal(*x.Exit, Exit{time.Minute, 3})
	is.Equal(x.CPU, "2")
	is.Equal(delay(x.Start), time.Duration(0))
	is.Equal(x.Log, []Line{{Text: "a"}, {Text: "b", After: 5 * time.Second}, {Text: "c", After: 10 * time.Second, Every: 10 * time.Second}})
	x, err = scripted(known, pod, "d", "i")
	is.NoErr(err)
	is.Equal(x.Exit.Code, 2)
	is.Equal(known["i"].Exit.Code, 1) // what is said of the image stays
	for name, value := range map[string]string{"exit-code": "256", "start-delay": "-1s", "cpu": "much", "exec": "ls", "unhealthy-after": "soon"} {
		_, err := scripted(nil, object.Object{"metadata": map[string]any{"annotations": map[string]any{Annotation + name: value}}}, "c", "i")
		is.True(err != nil) // name
	}
}

// The pause between restarts doubles from 10 s to 5 min, and begins anew after ten minutes that went well.
func TestPause(t *testing.T) {
	is := is.New(t)
	var p pause
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []time.Duration
	for range 7 {
		if at := p.until(now); !at.IsZero() {
			now = at
		}
		p.next(now)
		all = append(all, p.Length/time.Second)
	}
	is.Equal(all, []time.Duration{10, 20, 40, 80, 160, 300, 300})
	later := now.Add(10*time.Minute + 1)
	is.True(p.until(later).IsZero())
	p.next(later)
	is.Equal(p.Length, pauseMin)
}

// What a line printed again and again comes to is what counting from the start comes to, whatever part is asked for.
func TestOutputOfEvery(t *testing.T) {
	is := is.New(t)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for after := range 4 {
		for every := 1; every < 5; every++ {
			p := program{Image: Image{Log: []Line{{Text: "x", After: time.Duration(after) * time.Second, Every: time.Duration(every) * time.Second}}}}
			for from := range 10 {
				for to := from; to < 12; to++ {
					want := 0
					for at := after; at <= to; at += every {
						if at >= from {
							want++
						}
					}
					got := p.output(start, start.Add(time.Duration(from)*time.Second), start.Add(time.Duration(to)*time.Second))
					is.Equal(len(got), want)
				}
			}
			next := p.next(start, start.Add(7*time.Second))
			is.True(next.After(start.Add(7*time.Second)) && (next.Sub(start)/time.Second-time.Duration(after))%time.Duration(every) == 0)
		}
	}
}
