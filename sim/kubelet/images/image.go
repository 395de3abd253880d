// Package images describes the behaviour of an image's containers, and parses the pod annotations that override it.
package images

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// Image describes the behaviour of an image's containers. With the zero value, a container starts in a second, is ready
// immediately, and runs until it is stopped. Annotations of a pod set the same properties for the pod's containers (Annotation):
//
//	Images: map[string]images.Image{
//		"example.com/worker": {Exit: &images.Exit{After: time.Minute, Code: 1}, Log: []images.Line{{Text: "working"}}},
//	}
type Image struct {
	// Start is the time to pull the image and start a container. The default is a second. If Start is negative, a container
	// starts immediately.
	Start time.Duration `json:",omitempty"`
	// Ready is the time from a container's start until it is ready. Until then its probes fail. A container without probes is not
	// ready before that either.
	Ready time.Duration `json:",omitempty"`
	// Exit describes how a container ends on its own. If Exit is nil, it ends only if its command does (package shell).
	Exit *Exit `json:",omitempty"`
	// Stop is the time from SIGTERM until a container ends. The default is a second. If Stop exceeds the grace period, the
	// container is killed.
	Stop time.Duration `json:",omitempty"`
	// StopCode is the exit code after SIGTERM. A killed container has exit code 137 instead.
	StopCode int `json:",omitempty"`
	// Unhealthy is the time from a container's start until its probes begin to fail. If it is 0, they do not fail.
	Unhealthy time.Duration `json:",omitempty"`
	// PullError is the reason why the image cannot be pulled. If it is empty, the image can be pulled.
	PullError string `json:",omitempty"`
	// Log is the output of a container in addition to its command's output.
	Log []Line `json:",omitempty"`
	// Exec maps commands that are executed in a container, with their arguments, to their output.
	Exec map[string]string `json:",omitempty"`
	// HTTP is the response of a container's ports to every request. If it is empty, the response is a line that names the pod.
	HTTP string `json:",omitempty"`
	// CPU and Memory are the resource usage of a container, as quantities. Their defaults are 1m and 16Mi.
	CPU, Memory string `json:",omitempty"`
}

// Exit describes how a container ends.
type Exit struct {
	After time.Duration // time since the container's start
	Code  int
}

// Line is a line that a container prints.
type Line struct {
	Text  string
	After time.Duration `json:",omitempty"` // time since the container's start
	Every time.Duration `json:",omitempty"` // interval of repetition, or 0 to print the line once
}

// Annotation is the prefix of the pod annotations that set the behaviour of containers. kubesim.io/exit-code applies to all
// containers of the pod, kubesim.io/CONTAINER.exit-code to a single one:
//
//	start-delay, ready-delay   5s
//	exit-after, exit-code      a container that crashes: 0s and 1
//	stop-delay, stop-code
//	unhealthy-after            when probes begin to fail
//	pull-error                 the error of pulling the image
//	log                        lines; "+5s text" is printed five seconds after the start, "*5s text" every five seconds
//	exec                       a JSON object that maps commands to their output
//	http                       the response of its ports
//	cpu, memory                its usage
const Annotation = "kubesim.io/"

// setters maps the names of annotations to functions that apply their text to an Image. The functions return an error if the text
// is invalid.
var setters = map[string]func(x *Image, text string) error{
	"start-delay": func(x *Image, text string) error {
		err := span(&x.Start)(text)
		if x.Start == 0 {
			x.Start = -1
		}
		return err
	},
	"ready-delay":     func(x *Image, text string) error { return span(&x.Ready)(text) },
	"exit-after":      func(x *Image, text string) error { return span(&x.exit().After)(text) },
	"exit-code":       func(x *Image, text string) error { return code(&x.exit().Code)(text) },
	"stop-delay":      func(x *Image, text string) error { return span(&x.Stop)(text) },
	"stop-code":       func(x *Image, text string) error { return code(&x.StopCode)(text) },
	"unhealthy-after": func(x *Image, text string) error { return span(&x.Unhealthy)(text) },
	"pull-error":      func(x *Image, text string) error { x.PullError = text; return nil },
	"http":            func(x *Image, text string) error { x.HTTP = text; return nil },
	"log":             func(x *Image, text string) (err error) { x.Log, err = lines(text); return err },
	"exec": func(x *Image, text string) error {
		x.Exec = nil
		return json.Unmarshal([]byte(text), &x.Exec)
	},
	"cpu":    func(x *Image, text string) error { x.CPU = text; return amount(text) },
	"memory": func(x *Image, text string) error { x.Memory = text; return amount(text) },
}

func (x *Image) exit() *Exit {
	if x.Exit == nil {
		x.Exit = &Exit{}
	} else {
		own := *x.Exit // a copy, because all containers of the image share x.Exit
		x.Exit = &own
	}
	return x.Exit
}

func span(into *time.Duration) func(string) error {
	return func(text string) (err error) {
		if *into, err = time.ParseDuration(text); err == nil && *into < 0 {
			return errors.New("it is negative")
		}
		return err
	}
}

func code(into *int) func(string) error {
	return func(text string) (err error) {
		if *into, err = strconv.Atoi(text); err == nil && (*into < 0 || *into > 255) {
			return errors.New("it is not from 0 to 255")
		}
		return err
	}
}

func amount(text string) error {
	_, err := quantity.Parse(text)
	return err
}

// lines parses the value of the log annotation. A line whose prefix is not a valid duration is kept as it is, so err is always nil.
func lines(text string) (all []Line, err error) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		l := Line{Text: line}
		if first, rest, ok := strings.Cut(line, " "); ok && len(first) > 1 && (first[0] == '+' || first[0] == '*') {
			if d, err := time.ParseDuration(first[1:]); err == nil && d > 0 {
				if l.Text = rest; first[0] == '+' {
					l.After = d
				} else {
					l.After, l.Every = d, d
				}
			}
		}
		all = append(all, l)
	}
	return all, nil
}

// Of returns the behaviour of a pod's container: that of its image in known, with the overrides of the pod's annotations. It
// returns an error if an annotation is invalid.
func Of(known map[string]Image, pod object.Object, container, image string) (x Image, err error) {
	x, found := known[image]
	if !found {
		x, found = known[Untagged(image)]
	}
	if !found && x.PullError == "" {
		x.PullError = absent(image)
	}
	annotations := pod.Map("metadata", "annotations")
	for _, own := range []string{"", container + "."} {
		for _, name := range object.SortedKeys(annotations) {
			rest, ok := strings.CutPrefix(name, Annotation+own)
			set := setters[rest]
			if !ok || set == nil {
				continue
			}
			text, _ := annotations[name].(string)
			if err := set(&x, text); err != nil {
				return x, fmt.Errorf("annotation %s: %w", name, err)
			}
		}
	}
	return x, nil
}

// Untagged returns an image name without its tag and digest.
func Untagged(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name = name[:colon]
	}
	return name
}

// Reference returns an image name in the form that a container runtime reports, with registry and tag.
func Reference(image string) string {
	first, _, path := strings.Cut(image, "/")
	switch {
	case !path:
		image = "docker.io/library/" + image
	case !strings.ContainsAny(first, ".:") && first != "localhost":
		image = "docker.io/" + image
	}
	if Untagged(image) == image {
		image += ":latest"
	}
	return image
}

// absent returns the pull error of an image whose name indicates that it does not exist: its tag is 404, or its name contains
// "doesnotexist" or similar. For all other images it returns "".
func absent(image string) string {
	name := Untagged(image)
	tag := strings.TrimPrefix(image[len(name):], ":")
	for _, text := range []string{"doesnotexist", "does-not-exist", "doesnt-exist", "nonexistent", "non-existent"} {
		if strings.Contains(image, text) {
			tag = "404"
		}
	}
	if tag != "404" {
		return ""
	}
	full := Reference(image)
	return fmt.Sprintf("rpc error: code = NotFound desc = failed to pull and unpack image %q: failed to resolve reference %q: %s: not found",
		full, full, full)
}

// WellFormed reports whether image is a valid image name.
func WellFormed(image string) bool {
	name := Untagged(image)
	if name == "" || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//") {
		return false
	}
	if first, rest, ok := strings.Cut(name, "/"); ok && strings.ContainsAny(first, ".:") {
		name = rest
	}
	return strings.IndexFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("._-/", c))
	}) < 0
}
