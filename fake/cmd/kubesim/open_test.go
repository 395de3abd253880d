package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// The link is the page's address followed by the scenario, wherever the page is served.
func TestOpen(t *testing.T) {
	is := is.New(t)
	t.Setenv(campaign.SiteVariable, "")
	t.Chdir(t.TempDir())
	const text = "create configmaps a\n"
	is.NoErr(os.WriteFile("a.txtar", []byte(text), 0o644))
	_, _, stderr := ended("open", "a.txtar")
	is.True(strings.Contains(stderr, "open: the page is missing: use --web DIR")) // and how to get one
	is.NoErr(os.WriteFile("b.txtar", []byte("what\n"), 0o644))
	_, _, stderr = ended("open", "b.txtar")
	is.True(strings.Contains(stderr, "b.txtar: "))
	_, stdout, _ := ended("open", "a.txtar", "--site", "https://example.com/page/")
	is.Equal(stdout, campaign.Link("https://example.com/page/", text)+"\n")
	t.Setenv(campaign.SiteVariable, "https://example.com/")
	_, stdout, _ = ended("open", "a.txtar")
	is.Equal(stdout, campaign.Link("https://example.com/", text)+"\n")
	var long strings.Builder
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		fmt.Fprintf(&long, "# %x\n", r.Uint64())
	}
	is.NoErr(os.WriteFile("c.txtar", []byte(long.String()+text), 0o644))
	code, _, stderr := ended("open", "c.txtar")
	is.Equal(code, 1)
	is.True(strings.Contains(stderr, "too long for a link"))
}

// If no other process serves the page, kubesim open does, until it is interrupted.
func TestOpenServes(t *testing.T) {
	is := is.New(t)
	t.Setenv(campaign.SiteVariable, "")
	t.Chdir(t.TempDir())
	is.NoErr(os.WriteFile("a.txtar", []byte("create configmaps a\n"), 0o644))
	is.NoErr(os.MkdirAll(builtWeb, 0o755))
	is.NoErr(os.WriteFile(filepath.Join(builtWeb, "index.html"), []byte("hello"), 0o644))
	stdout, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- program{w, &bytes.Buffer{}}.main(ctx, []string{"open", "a.txtar"}) }()
	lines := bufio.NewScanner(stdout)
	is.True(lines.Scan())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(lines.Text()) // the fragment stays in the browser
	is.NoErr(err)
	body, err := io.ReadAll(res.Body)
	is.NoErr(err)
	is.NoErr(res.Body.Close())
	is.Equal(string(body), "hello")
	is.True(strings.Contains(lines.Text(), "/#v1.any."))
	cancel()
	is.Equal(<-done, 0)
}
