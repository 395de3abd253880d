package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Record plays the cases below dir that have no recording yet against a real server, and writes their .res files. Each
// case is played twice, and is not recorded if a response differs between the two runs, because that response depends
// on something other than the case. Record returns the IDs of the recorded cases, and the joined errors of the other
// cases.
func Record(ctx context.Context, t Target, dir string) (recorded []string, err error) {
	return recordEach(dir, 1, false, func(c Case, to string) error { return record(ctx, t, c, to, Run) })
}

// RecordLife is like Record, but for situations. It plays several concurrently, because they spend most of their time
// waiting.
func RecordLife(ctx context.Context, t Target, dir string, workers int) (recorded []string, err error) {
	return recordEach(dir, workers, t.Scheduled, func(c Case, to string) error { return record(ctx, t, c, to, RunLife) })
}

// recordEach records the cases below dir that have no recording yet. If scheduled is set, these are the cases with a scheduler, and otherwise the others.
func recordEach(dir string, workers int, scheduled bool, record func(c Case, to string) error) (recorded []string, err error) {
	cases := os.DirFS(dir)
	files, err := fs.Glob(cases, "*/*.http")
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	free := make(chan struct{}, workers)
	for _, file := range files {
		c, failed := readCase(cases, file)
		if failed == nil && c.Scheduled != scheduled {
			continue
		}
		res := strings.TrimSuffix(file, ".http") + ".res"
		if _, err := fs.Stat(cases, res); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if failed == nil {
				failed = record(c, filepath.Join(dir, res))
			}
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", filepath.Join(dir, file), failed))
				return
			}
			recorded = append(recorded, c.ID())
		})
	}
	wg.Wait()
	slices.Sort(recorded)
	return recorded, err
}

// record plays a case twice with run and writes its recording to a file. It returns an error if the two runs differ.
func record(ctx context.Context, t Target, c Case, to string, run func(context.Context, Target, Case) []StepResult) error {
	t.tidy = true
	c.recorded = map[string]any{}
	for _, r := range run(ctx, t, c) {
		if r.Got == nil {
			return fmt.Errorf("%s: %s", r.Name, strings.Join(r.Differences, "; "))
		}
		c.recorded[r.Name] = r.Got
	}
	t.Seed++ // use another namespace
	for _, r := range run(ctx, t, c) {
		if !r.Agrees() {
			return fmt.Errorf("%s is not the same the second time: %s", r.Name, strings.Join(r.Differences, "; "))
		}
	}
	return os.WriteFile(to, c.text(), 0o644)
}

// text returns the recording as a .res file: the response of each step, with sorted keys.
func (c Case) text() []byte {
	var out []byte
	for _, s := range c.Steps {
		out = append(out, "### "+s.Name+"\n"...)
		out = append(appendIndented(out, c.recorded[s.Name], "\n"), "\n\n"...)
	}
	return out
}

// appendIndented appends a value with one member or item per line, each level indented by one more space. newline is
// the line break with the indentation of the value.
func appendIndented(dst []byte, v any, newline string) []byte {
	switch v := v.(type) {
	case *Object:
		if len(v.Keys) == 0 {
			return append(dst, "{}"...)
		}
		for i, k := range slices.Sorted(slices.Values(v.Keys)) {
			dst = append(append(dst, "{,"[min(i, 1)]), newline+" "...)
			dst = append(append(dst, Encode(k, false)...), ": "...)
			dst = appendIndented(dst, v.Members[k], newline+" ")
		}
		return append(append(dst, newline...), '}')
	case *List:
		if len(v.Items) == 0 {
			return append(dst, "[]"...)
		}
		for i, x := range v.Items {
			dst = append(append(dst, "[,"[min(i, 1)]), newline+" "...)
			dst = appendIndented(dst, x, newline+" ")
		}
		return append(append(dst, newline...), ']')
	}
	return append(dst, Encode(v, false)...)
}
