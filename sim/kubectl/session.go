package kubectl

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// Request is one request to an API server.
type Request struct {
	Method string
	Path   string // decoded
	Query  url.Values
	Header wire.Header
	Body   []byte
}

// Answer is what it was answered with.
type Answer struct {
	Code   int
	Header wire.Header
	Body   []byte
}

// Conn carries requests to an API server, and knows how late it is.
type Conn interface {
	// Do sends a request and waits for its answer.
	Do(r *Request) (*Answer, error)
	// Watch sends a request of a watch and gives its events, as they come over the wire, to event, until that returns false,
	// the watch ends, or so much time has passed. Its answer is that of a request that was refused, nil for one that was not.
	Watch(r *Request, patience time.Duration, event func(frame []byte) (more bool)) (*Answer, error)
	// Follow begins a watch that goes on by itself and returns; event gets what comes. A Conn that cannot do that waits.
	Follow(r *Request, event func(frame []byte)) (*Answer, error)
	// Exec sends a request to run a command in a container, or to attach to one, with what it reads, and gives what it says to
	// out. The Answer is that of a request that was refused, or a Status of how the command ended, as the error channel of
	// v5.channel.k8s.io has it.
	Exec(r *Request, stdin []byte, out func(isError bool, data []byte)) (*Answer, error)
	Now() time.Time
	Sleep(d time.Duration)
}

// Files are the files that a command line can name.
type Files interface {
	ReadFile(name string) ([]byte, error) // fs.ErrNotExist: there is none
	WriteFile(name string, data []byte) error
	Names(folder string) []string // of the files in a folder, "" for all that there are; nil: it is none
}

// clientVersion is the version of kubectl that this one prints as.
const clientVersion, kustomizeVersion = schema.DefaultVersion, "v5.8.1"

// Session is what one command line leaves for the next one: who asks whom about what, and what the server serves.
type Session struct {
	Conn   Conn
	Files  Files
	Config *Config
	// Edit lets somebody edit a text with the editor of a name, "" for the usual one. nil: nobody can.
	Edit func(editor, text string) (string, error)

	Out, Err io.Writer

	stdin  []byte
	env    map[string]string // of one command line: NAME=VALUE before it
	served *served           // nil: has not been asked for
}

// Run carries out one command, without the word kubectl in front, and returns its exit code.
func (s *Session) Run(args []string, stdin []byte) int {
	s.stdin = stdin
	c, err := s.parse(args)
	if err == nil {
		err = c.do()
	}
	return s.fail(err)
}

// do runs the command.
func (c *call) do() error {
	if c.on("help") {
		return c.help()
	}
	if missing := c.missingFlags(); missing != "" {
		return fmt.Errorf("required flag(s) %s not set", missing)
	}
	return c.word.run(c)
}

// exitCode is the outcome of a command that has said already what there was to say.
type exitCode int

func (e exitCode) Error() string { return "" }

// several are errors that were met one after the other.
type several []error

func (e several) Error() string {
	texts := make([]string, len(e))
	for i := range e {
		texts[i] = e[i].Error()
	}
	return strings.Join(texts, ", ")
}

// together returns nil for none, the one, or several.
func together(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return several(errs)
}

// misuse is an error in how a command is used.
type misuse struct {
	text string
	see  string // what says more
}

func (e *misuse) Error() string { return e.text }

// usage returns the error of arguments that a command does not take (cmdutil.UsageErrorf).
func (c *call) usage(format string, args ...any) error {
	return &misuse{fmt.Sprintf(format, args...), "See '" + c.path + " -h' for help and examples"}
}

// toldError is an error that is printed as it is.
type toldError string

func (e toldError) Error() string { return string(e) }

// statusError is an answer that says what went wrong.
type statusError struct {
	code    int
	reason  string
	message string
	kind    string // in its details
	name    string
	causes  []object.Object
}

func (e *statusError) Error() string { return e.message }

// with returns the error with more in front of its message (cmdutil.AddSourceToErr).
func with(err error, format string, args ...any) error {
	before := fmt.Sprintf(format, args...)
	if e, ok := err.(*statusError); ok {
		made := *e
		made.message = before + ": " + e.message
		return &made
	}
	return fmt.Errorf("%s: %w", before, err)
}

func isNotFound(err error) bool {
	e, ok := err.(*statusError)
	return ok && e.reason == "NotFound"
}

// fail prints an error as kubectl does and returns the exit code.
func (s *Session) fail(err error) int {
	switch e := err.(type) {
	case nil:
		return 0
	case exitCode:
		return int(e)
	case several:
		for _, one := range e {
			s.fail(one)
		}
	case *misuse:
		s.complain("error: %s\n%s", e.text, e.see)
	case *statusError:
		s.complain("%s", e.text())
	case toldError:
		s.complain("%s", string(e))
	default:
		text := err.Error()
		if text != "" && !strings.HasPrefix(text, "error: ") {
			text = "error: " + text
		}
		s.complain("%s", text)
	}
	return 1
}

func (s *Session) complain(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	io.WriteString(s.Err, text)
}

// text is what kubectl prints of an answer that is an error.
func (e *statusError) text() string {
	switch e.reason {
	case "Invalid":
		subject := "request is invalid"
		if e.kind != "" {
			subject = e.kind + " " + fmt.Sprintf("%q", e.name) + " is invalid"
		}
		if len(e.causes) == 0 {
			return "The " + subject + ": " + e.message
		}
		var lines []string
		for _, cause := range e.causes {
			line := cause.String("message")
			if f := cause.String("field"); f != "" {
				line = f + ": " + line
			}
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		if len(lines) == 1 {
			return "The " + subject + ": " + lines[0]
		}
		return "The " + subject + ": \n* " + strings.Join(lines, "\n* ")
	case "Unauthorized":
		return "error: You must be logged in to the server (" + e.message + ")"
	case "":
		return "Error from server: " + e.message
	}
	return "Error from server (" + e.reason + "): " + e.message
}

// printf prints on stdout.
func (s *Session) printf(format string, args ...any) { fmt.Fprintf(s.Out, format, args...) }

// send sends a request; what the server warns of is printed. An answer of 400 and above is an error.
func (s *Session) send(r *Request) (*Answer, error) {
	a, err := s.Conn.Do(r)
	if err != nil {
		return nil, err
	}
	return s.checked(a)
}

// checked prints the warnings of an answer and returns the error that it is, if it is one.
func (s *Session) checked(a *Answer) (*Answer, error) {
	for _, text := range a.Header["Warning"] {
		s.complain("Warning: %s", warningText(text))
	}
	if a.Code < 400 {
		return a, nil
	}
	e := &statusError{code: a.Code, message: strings.TrimSpace(string(a.Body))}
	if obj, err := object.Parse(a.Body); err == nil && obj.Kind() == "Status" {
		e.reason, e.message = obj.String("reason"), obj.String("message")
		e.kind, e.name = obj.String("details", "kind"), obj.String("details", "name")
		e.causes = obj.Objects("details", "causes")
	} else if a.Code == wire.StatusNotFound {
		e.reason, e.message = "NotFound", "the server could not find the requested resource"
	} else if e.message == "" {
		e.message = "unknown"
	}
	return a, e
}

// warningText returns the text of a Warning header (RFC 7234): 299 - "text".
func warningText(header string) string {
	text := strings.TrimPrefix(header, "299 - ")
	text = strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}

// ask sends a request whose answer is an object.
func (s *Session) ask(r *Request) (object.Object, error) {
	a, err := s.send(r)
	if err != nil {
		return nil, err
	}
	return object.Parse(a.Body)
}

// get reads an object, or whatever a path has.
func (c *call) get(path string, query url.Values) (object.Object, error) {
	return c.ask(c.request(wire.MethodGet, path, query, "", nil))
}

// request makes a request in the name of whom the flags say.
func (c *call) request(method, path string, query url.Values, contentType string, body []byte) *Request {
	r := &Request{Method: method, Path: path, Query: query, Body: body,
		Header: wire.Header{"User-Agent": {"kubectl/" + clientVersion}, "Accept": {"application/json"}}}
	if contentType != "" {
		r.Header["Content-Type"] = []string{contentType}
	}
	if as := c.text("as"); as != "" {
		r.Header["Impersonate-User"] = []string{as}
	}
	if groups := c.list("as-group"); len(groups) > 0 {
		r.Header["Impersonate-Group"] = groups
	}
	return r
}

// readFile reads a file, or stdin for a single dash.
func (s *Session) readFile(name string) ([]byte, error) {
	if name == "-" || name == "/dev/stdin" {
		return s.stdin, nil
	}
	if s.Files == nil {
		return nil, fs.ErrNotExist
	}
	return s.Files.ReadFile(name)
}
