package images

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
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
		is.Equal(Reference(image), want)
		is.Equal(Reference(want), want)
	}
}

func TestWellFormed(t *testing.T) {
	is := is.New(t)
	for image, want := range map[string]bool{"nginx": true, "registry.Example.com/a/b-c_d.e:V1": true, "Nginx": false, "a//b": false,
		"/a": false, "": false, "a b": false, "nginx:Latest": true, ":tag": false} {
		is.Equal(WellFormed(image), want)
	}
}

func TestAbsent(t *testing.T) {
	is := is.New(t)
	is.Equal(absent("nginx"), "")
	is.Equal(absent("web:404"), `rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/web:404": `+
		`failed to resolve reference "docker.io/library/web:404": docker.io/library/web:404: not found`)
	is.True(absent("example.com/does-not-exist:1") != "")
}

// TestScripted checks that an annotation for one container overrides an annotation for all containers, which overrides the
// image's behaviour.
func TestScripted(t *testing.T) {
	is := is.New(t)
	pod := object.Object{"metadata": map[string]any{"annotations": map[string]any{"kubesim.io/exit-code": "2", "kubesim.io/c.exit-code": "3",
		"kubesim.io/log": "a\n+5s b\n*10s c", "kubesim.io/start-delay": "0s", "example.com/exit-code": "9"}}}
	known := map[string]Image{"i": {Exit: &Exit{After: time.Minute, Code: 1}, CPU: "2"}}
	x, err := Of(known, pod, "c", "i:latest")
	is.NoErr(err)
	is.Equal(*x.Exit, Exit{time.Minute, 3})
	is.Equal(x.CPU, "2")
	is.Equal(x.Start, time.Duration(-1)) // no delay
	is.Equal(x.Log, []Line{{Text: "a"}, {Text: "b", After: 5 * time.Second}, {Text: "c", After: 10 * time.Second, Every: 10 * time.Second}})
	x, err = Of(known, pod, "d", "i")
	is.NoErr(err)
	is.Equal(x.Exit.Code, 2)
	is.Equal(known["i"].Exit.Code, 1) // the image's behaviour is unchanged
	for name, value := range map[string]string{"exit-code": "256", "start-delay": "-1s", "cpu": "much", "exec": "ls", "unhealthy-after": "soon"} {
		_, err := Of(nil, object.Object{"metadata": map[string]any{"annotations": map[string]any{Annotation + name: value}}}, "c", "i")
		is.True(err != nil) // name
	}
}
