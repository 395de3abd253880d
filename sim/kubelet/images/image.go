// Package images describes the behaviour of the containers of an image, and reads annotations of pods that override it.
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

// Image describes the behaviour of an image's containers. The zero value starts in a second, is ready at once and runs until it is
// stopped. Annotations of a pod set the same for its containers (Annotation):
//
//	Images: map[string]images.Image{
//		"example.com/worker": {Exit: &images.Exit{After: time.Minute, Code: 1}, Log: []images.Line{{Text: "working"}}},
//	}
type Image struct {
	// Start is the time to pull the image and to start a container. 0 means a second, a negative value no time.
	Start time.Duration `json:",omitempty"`
	// Ready is how long after its start a container is ready: until then probes fail, and without one it is not ready either.
	Ready time.Duration `json:",omitempty"`
	// Exit is how a container ends by itself. If Exit is nil, it ends only if its command does (package shell).
	Exit *Exit `json:",omitempty"`
	// Stop is the time that a container takes to end after SIGTERM; 0 means a second. If it exceeds the grace period, the container is
	// killed.
	Stop time.Duration `json:",omitempty"`
	// StopCode is its exit code then, unless it is killed, which is 137.
	StopCode int `json:",omitempty"`
	// Unhealthy is the time after the start of a container at which its probes begin to fail. 0 means that they do not.
	Unhealthy time.Duration `json:",omitempty"`
	// PullError is the reason why the image cannot be pulled, if any.
	PullError string `json:",omitempty"`
	// Log is the output of a container, beside that of its command.
	Log []Line `json:",omitempty"`
	// Exec are the answers to commands that are run in a container, by the command with its arguments.
	Exec map[string]string `json:",omitempty"`
	// HTTP is the answer of a container's ports to every request. If it is empty, they answer with a line that names the pod.
	HTTP string `json:",omitempty"`
	// CPU and Memory are the usage of a container, as quantities. Their defaults are 1m and 16Mi.
	CPU, Memory string `json:",omitempty"`
}

// Exit is how a container ends.
type Exit struct {
	After time.Duration // its start
	Code  int
}

// Line is something that a container prints.
type Line struct {
	Text  string
	After time.Duration `json:",omitempty"` // its start
	Every time.Duration `json:",omitempty"` // the interval of repetition; 0 means once
}

// Annotations of pods begin with Annotation. kubesim.io/exit-code is for all containers of the pod,
// kubesim.io/CONTAINER.exit-code for one:
//
//	start-delay, ready-delay   5s
//	exit-after, exit-code      a container that crashes: 0s and 1
//	stop-delay, stop-code
//	unhealthy-after            when probes begin to fail
//	pull-error                 the error of pulling the image
//	log                        lines; "+5s text" is printed five seconds after the start, "*5s text" every five seconds
//	exec                       a JSON object: commands and their output
//	http                       the answer of its ports
//	cpu, memory                its usage
const Annotation = "kubesim.io/"

// setters apply the annotations by name.
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
		own := *x.Exit // of this pod, not of all of the image
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

// lines reads the annotation log.
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

// Of returns the behaviour of a pod's container: that of its image, overridden by annotations.
func Of(known map[string]Image, pod object.Object, container, image string) (x Image, err error) {
	x, said := known[image]
	if !said {
		x, said = known[Untagged(image)]
	}
	if !said && x.PullError == "" {
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

// Untagged is the name of an image without tag and digest.
func Untagged(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name = name[:colon]
	}
	return name
}

// Reference is the name of an image as a container runtime has it: with registry and tag.
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

// absent returns the error for an image whose name says that it does not exist (the tag 404, or doesnotexist in its name), and otherwise
// "".
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

// WellFormed reports whether a name can be that of an image.
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
