package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/scenario"
)

const openUsage = `kubesim open FILE [flags] prints a link that opens a scenario (.txtar) in the page, for example a scenario that
fake.Explore has saved with a plan. A recording (kubesim proxy) or an audit log is opened as the scenario that kubesim scenario-from
prints. Flags:

  --web DIR             serves the page in DIR until it is interrupted (default: web/dist, which make web-dist builds)
  --web-listen ADDRESS  the address of the page (default: 127.0.0.1, with a free port)
  --site URL            the URL of a page that is already served: kubesim serve --web prints it (default: KUBESIM_SITE)
`

// builtWeb is the folder in which make web-dist builds the page.
var builtWeb = filepath.Join("web", "dist")

// open implements kubesim open.
func (p program) open(ctx context.Context, args []string) error {
	var site string
	var f serveFlags
	set := newFlags("open")
	set.StringVar(&site, "site", os.Getenv(campaign.SiteVariable), "")
	set.StringVar(&f.web, "web", "", "")
	set.StringVar(&f.webListen, "web-listen", "", "")
	path, err := parseAround(set, openUsage, "scenario", args)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(text, []byte("{")) { // a scenario begins with a command or a comment
		if text, err = scenarioOf(path, ""); err != nil {
			return err
		}
	}
	if _, err := scenario.ParseFile(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if site != "" && f.web == "" {
		return p.printLink(site, path, string(text))
	}
	folder := cmp.Or(f.web, builtWeb)
	if _, err := os.Stat(folder); f.web == "" && errors.Is(err, fs.ErrNotExist) {
		return errors.New("open: the page is missing: use --web DIR (make web-dist builds web/dist), --site URL, or " + campaign.SiteVariable)
	}
	url, stop, err := servePage(folder, f.pageAddress(), nil, "")
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer stop()
	if err := p.printLink(url, path, string(text)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// printLink prints a link that opens the scenario. It returns an error if the scenario is too long for a link.
func (p program) printLink(site, path, text string) error {
	link := campaign.Link(site, text)
	if link == "" {
		return fmt.Errorf("open: %s is too long for a link: open the scenario (kubesim scenario-from prints that of a recording) in the page at %s (Share, Open a scenario)", path, site)
	}
	fmt.Fprintln(p.stdout, link)
	return nil
}
