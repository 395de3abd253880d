package conformance

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed testdata/cases
var embedded embed.FS

// Case is one .http file with its recording.
type Case struct {
	Area        string // the folder that contains the file
	Name        string // the file's name without .http
	Title       string // the first comment line
	NoNamespace bool   // do not create a namespace: {{ns}} is empty
	Whole       bool   // for situations: also compare the objects that exist in every namespace
	Disturbs    bool   // for situations: affects other cases that run concurrently
	Scheduled   bool   // for situations: a scheduler runs
	Steps       []Step

	recorded map[string]any // step name -> recorded response
}

// Step is one request of a case, or one action without a request.
type Step struct {
	Name    string
	Method  string
	Target  string // the request target as written, before {{…}} is replaced
	Headers []Header
	Body    string
	Base64  bool // Body is base64

	Watch   *Watch
	Until   *Until
	Sleep   time.Duration
	Control string // "compact" or "expire": an action without a request
	Second  bool   // send to Target.Second

	Settle *Settle // for situations: an action without a request
	Pass   *Pass   // the same
	Play   *Play   // the same

	Only   []Only
	Ignore []string
	Mask   []string
	Keep   []string // additional response headers to compare
	Raw    bool
}

// Waits reports whether the step lets time pass: it sleeps, repeats its request, or reads a watch.
func (s Step) Waits() bool { return s.Sleep > 0 || s.Until != nil || s.Watch != nil }

// Header is one request header, as written in the case.
type Header struct{ Name, Value string }

// Watch defines when to stop reading a watch.
type Watch struct {
	Events int
	Within time.Duration
	End    bool // also compare whether the server ended the stream
}

// Until repeats a step until its response has the given status, for at most the time Within.
type Until struct {
	Status string
	Within time.Duration
}

// Only selects elements of a list or map for the comparison: see the package comment.
type Only struct{ Path, Want string }

// Minor returns the Kubernetes minor version of the server from which the case was recorded. It is the suffix of the
// area's name: 1.37 for since-1.37. It is "" for cases that run on any server since 1.36 (see doc.go).
func (c Case) Minor() string {
	i := strings.LastIndex(c.Area, "-1.")
	if i < 0 {
		return ""
	}
	return c.Area[i+1:]
}

// AllVersions is the area of cases that need a server with --runtime-config=api/all=true and the feature gates of
// kinds that kubesim has: ClusterTrustBundle, PodCertificateRequest, StorageVersionMigrator.
const AllVersions = "all-versions"

// DualStack is the area of cases that need a server with --service-cluster-ip-range=10.0.0.0/24,fd00::/112.
const DualStack = "dual-stack"

// ID returns "area/name".
func (c Case) ID() string { return c.Area + "/" + c.Name }

// NeedsSecond reports whether the case sends requests to two API servers over one store.
func (c Case) NeedsSecond() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Second })
}

// NeedsControl reports whether the case compacts the store.
func (c Case) NeedsControl() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Control != "" })
}

// RunsAlone reports whether the case must not run concurrently with other cases on one server: it compacts the store,
// reads objects outside its own namespace, disturbs other cases, needs a scheduler, which sees all nodes, or expects two
// lists at the same revision.
func (c Case) RunsAlone() bool {
	return c.NeedsControl() || c.NoNamespace || c.Disturbs || c.Scheduled || c.quiet()
}

// quiet reports whether two steps were recorded with the same list revision. If so, no other case may write between
// these steps.
func (c Case) quiet() bool {
	seen := map[string]bool{}
	for _, s := range c.Steps {
		here := map[string]bool{}
		listRevisions(c.recorded[s.Name], here)
		for label := range here { // the order does not matter: one label is enough
			if seen[label] {
				return true
			}
			seen[label] = true
		}
	}
	return false
}

// listRevisions adds the labels of the list revisions in a normalised response to a set.
func listRevisions(v any, into map[string]bool) {
	switch v := v.(type) {
	case *Object:
		for _, x := range v.Members { // the order does not matter: the result is a set
			listRevisions(x, into)
		}
	case *List:
		for _, x := range v.Items {
			listRevisions(x, into)
		}
	case string:
		if strings.HasPrefix(v, "<listrv:") {
			into[v] = true
		}
	}
}

// Recorded returns the recorded response of a step: an *Object, or nil.
func (c Case) Recorded(step string) any { return c.recorded[step] }

// Cases returns the recorded cases embedded in the package, sorted by ID. They are read once: the steps and the recordings are shared
// and must not be changed.
func Cases() ([]Case, error) {
	cases, err := embeddedCases()
	return slices.Clone(cases), err
}

var embeddedCases = sync.OnceValues(func() ([]Case, error) { return Load(embedded, "testdata/cases") })

// Load returns the recorded cases below a folder, AREA/NAME.http with AREA/NAME.res, sorted by ID.
func Load(fsys fs.FS, dir string) ([]Case, error) {
	files, err := fs.Glob(fsys, path.Join(dir, "*/*.http"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("conformance: no AREA/NAME.http found")
	}
	slices.Sort(files)
	var cases []Case
	for _, f := range files {
		c, err := loadCase(fsys, f)
		if err != nil {
			return nil, fmt.Errorf("conformance: %s: %w", f, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// readCase reads and parses a .http file, without its recording.
func readCase(fsys fs.FS, file string) (Case, error) {
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		return Case{}, err
	}
	c, err := parseCase(string(text))
	c.Area, c.Name = path.Base(path.Dir(file)), strings.TrimSuffix(path.Base(file), ".http")
	return c, err
}

// loadCase reads a .http file and its recording.
func loadCase(fsys fs.FS, file string) (Case, error) {
	c, err := readCase(fsys, file)
	if err != nil {
		return Case{}, err
	}
	res, err := fs.ReadFile(fsys, strings.TrimSuffix(file, ".http")+".res")
	if err != nil {
		return Case{}, err
	}
	c.recorded, err = parseRecording(string(res))
	return c, err
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// parseCase parses the text of a .http file.
func parseCase(text string) (Case, error) {
	var c Case
	var cur *Step
	part := "head"
	var steps []*Step
	for i, line := range strings.Split(newlines.Replace(text), "\n") {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			cur = &Step{Name: strings.TrimSpace(name)}
			steps, part = append(steps, cur), "before"
			continue
		}
		var err error
		switch part {
		case "head":
			c.parseHead(line)
		case "before":
			part, err = cur.parseBefore(line)
		case "headers":
			part, err = cur.parseHeader(line)
		case "body":
			cur.Body += line + "\n"
		}
		if err != nil {
			return Case{}, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, s := range steps {
		if s.Name == "ns" {
			return Case{}, errors.New("a step cannot be called ns: {{ns}} is the namespace")
		}
		s.Body = strings.TrimRight(s.Body, "\n")
		c.Steps = append(c.Steps, *s)
	}
	return c, nil
}

func (c *Case) parseHead(line string) {
	title, comment := strings.CutPrefix(line, "# ")
	switch {
	case strings.Contains(line, "@no-namespace"):
		c.NoNamespace = true
	case line == "# @whole":
		c.Whole = true
	case line == "# @alone":
		c.Disturbs = true
	case line == "# @scheduled":
		c.Scheduled = true
	case comment && c.Title == "":
		c.Title = strings.TrimSpace(title)
	}
}

var directive = regexp.MustCompile(`^# @(\w+)\s*(.*)`)

// parseBefore parses a line between a step's name and its request line, and returns the part to which the next line
// belongs.
func (s *Step) parseBefore(line string) (string, error) {
	if m := directive.FindStringSubmatch(line); m != nil {
		return "before", s.directive(m[1], strings.TrimSpace(m[2]))
	}
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || strings.HasPrefix(line, "#") {
		return "before", nil
	}
	method, target, ok := strings.Cut(trimmed, " ")
	if !ok {
		return "", fmt.Errorf("request line %q lacks a target", trimmed)
	}
	s.Method, s.Target = method, target
	return "headers", nil
}

func (s *Step) parseHeader(line string) (string, error) {
	if strings.TrimSpace(line) == "" {
		return "body", nil
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return "", fmt.Errorf("header %q lacks a colon", line)
	}
	s.Headers = append(s.Headers, Header{strings.TrimSpace(name), strings.TrimSpace(value)})
	return "headers", nil
}

func (s *Step) directive(name, value string) (err error) {
	switch name {
	case "watch":
		s.Watch, err = parseWatch(value)
	case "until":
		s.Until, err = parseUntil(value)
	case "sleep":
		s.Sleep, err = seconds(value)
	case "control":
		s.Control = value
	case "settle", "state":
		s.Settle, err = parseSettle(value, name == "state")
	case "pass":
		s.Pass, err = parsePass(value)
	case "play":
		s.Play, err = parsePlay(value)
	case "server":
		s.Second = value == "2"
	case "ignore":
		s.Ignore = append(s.Ignore, value)
	case "mask":
		s.Mask = append(s.Mask, value)
	case "only":
		at, want, _ := strings.Cut(value, " ")
		s.Only = append(s.Only, Only{at, strings.TrimSpace(want)})
	case "header":
		s.Keep = append(s.Keep, strings.ToLower(value))
	case "raw":
		s.Raw = true
	case "body":
		s.Base64 = value == "base64"
	default:
		err = fmt.Errorf("unknown directive @%s", name)
	}
	return err
}

func parseWatch(value string) (*Watch, error) {
	w := &Watch{Events: 1000, Within: 3 * time.Second}
	return w, eachSetting(value, func(k, v string) (err error) {
		switch k {
		case "events":
			w.Events, err = strconv.Atoi(v)
		case "seconds":
			w.Within, err = seconds(v)
		case "end":
			w.End = true
		}
		return err
	})
}

func parseUntil(value string) (*Until, error) {
	u := &Until{Status: "200", Within: 10 * time.Second}
	return u, eachSetting(value, func(k, v string) (err error) {
		switch k {
		case "status":
			u.Status = v
		case "seconds":
			u.Within, err = seconds(v)
		}
		return err
	})
}

func eachSetting(value string, set func(k, v string) error) error {
	for _, field := range strings.Fields(value) {
		k, v, ok := strings.Cut(field, "=")
		if !ok {
			return fmt.Errorf("setting %q lacks =", field)
		}
		if err := set(k, v); err != nil {
			return err
		}
	}
	return nil
}

func seconds(text string) (time.Duration, error) {
	f, err := strconv.ParseFloat(text, 64)
	return time.Duration(f * float64(time.Second)), err
}

// parseRecording parses a .res file: "### step", followed by the response as JSON.
func parseRecording(text string) (map[string]any, error) {
	out := map[string]any{}
	for i, part := range strings.Split("\n"+newlines.Replace(text), "\n### ") {
		if i == 0 {
			continue
		}
		name, body, _ := strings.Cut(part, "\n")
		v, err := Decode([]byte(body))
		if err != nil {
			return nil, fmt.Errorf("recording of %s: %w", name, err)
		}
		out[strings.TrimSpace(name)] = v
	}
	return out, nil
}
