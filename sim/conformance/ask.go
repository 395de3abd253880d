package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Ask plays a case against a real server and returns it with the responses as its recording. It omits steps that cannot
// be sent (because they refer to a value that no earlier response contains), that get no response, or whose handler
// panics (a proxy responds with 502). At the end, it deletes the objects that the case has created.
func Ask(ctx context.Context, t Target, c Case) Case {
	t.tidy = true
	asked := c
	asked.Steps, asked.recorded = nil, map[string]any{}
	c.recorded = nil
	for i, r := range Run(ctx, t, c) {
		if got, ok := r.Got.(*Object); r.Got != nil && !(ok && got.Get("status") == Int("502")) {
			asked.Steps = append(asked.Steps, c.Steps[i])
			asked.recorded[r.Name] = r.Got
		}
	}
	return asked
}

// Until returns the case up to the first step whose response differs between two recordings. The response to that step,
// and those to the following steps, depend on something other than the case, such as map order or a race with a cache.
func (c Case) Until(again Case) Case {
	for i, s := range c.Steps {
		if i >= len(again.Steps) || again.Steps[i].Name != s.Name ||
			len(difference(c.recorded[s.Name], again.recorded[s.Name], "")) > 0 {
			c.Steps = c.Steps[:i]
			break
		}
	}
	return c
}

// Save writes a case with its recording as AREA/NAME.http and .res below dir.
func Save(dir string, c Case) error {
	at := filepath.Join(dir, c.Area, c.Name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(at+".http", []byte(c.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(at+".res", c.text(), 0o644)
}

// String returns the case in the format that parseCase parses.
func (c Case) String() string {
	var b strings.Builder
	b.WriteString("# " + c.Title + "\n")
	if c.NoNamespace {
		b.WriteString("# @no-namespace\n")
	}
	if c.Whole {
		b.WriteString("# @whole\n")
	}
	if c.Disturbs {
		b.WriteString("# @alone\n")
	}
	if c.Scheduled {
		b.WriteString("# @scheduled\n")
	}
	for _, s := range c.Steps {
		b.WriteString("\n### " + s.Name + "\n")
		for _, d := range s.directives() {
			b.WriteString("# @" + d + "\n")
		}
		if s.Method == "" {
			continue
		}
		b.WriteString(s.Method + " " + s.Target + "\n")
		for _, h := range s.Headers {
			b.WriteString(strings.TrimSpace(h.Name+": "+h.Value) + "\n")
		}
		if s.Body != "" {
			b.WriteString("\n" + s.Body + "\n")
		}
	}
	return b.String()
}

// directives returns the directives for a step, without "# @".
func (s Step) directives() []string {
	var out []string
	add := func(on bool, text string) {
		if on {
			out = append(out, text)
		}
	}
	if w := s.Watch; w != nil {
		text := fmt.Sprintf("watch events=%d seconds=%g", w.Events, w.Within.Seconds())
		if w.End {
			text += " end=1"
		}
		add(true, text)
	}
	if u := s.Until; u != nil {
		add(true, fmt.Sprintf("until status=%s seconds=%g", u.Status, u.Within.Seconds()))
	}
	add(s.Sleep > 0, fmt.Sprintf("sleep %g", s.Sleep.Seconds()))
	add(s.Control != "", "control "+s.Control)
	add(s.Second, "server 2")
	if s.Settle != nil {
		add(true, s.Settle.String())
	}
	if s.Pass != nil {
		add(true, s.Pass.String())
	}
	if s.Play != nil {
		add(true, "play "+s.Play.Labels+" "+s.Play.As)
	}
	for _, o := range s.Only {
		add(true, "only "+o.Path+" "+o.Want)
	}
	for _, x := range s.Ignore {
		add(true, "ignore "+x)
	}
	for _, x := range s.Mask {
		add(true, "mask "+x)
	}
	for _, x := range s.Keep {
		add(true, "header "+x)
	}
	add(s.Raw, "raw")
	add(s.Base64, "body base64")
	return out
}
