package main

import (
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

const openUsage = `kubesim open SCENARIO [flags] prints a link that opens a scenario (.txtar) in the page, such as a scenario that fake.Explore
has written beside a plan. Flags:

  --web DIR             serves the page in DIR until it is interrupted (default: web/dist, where make web-dist builds it)
  --web-listen ADDRESS  the address for the page (default: any port of 127.0.0.1)
  --site URL            the URL of a page that is already served: kubesim serve --web prints it (default: KUBESIM_SITE)
`

// builtWeb is where make web-dist leaves the page.
var builtWeb = filepath.Join("web", "dist")

// open is kubesim open.
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
	if _, err := scenario.ParseFile(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if site != "" && f.web == "" {
		return p.printLink(site, path, string(text))
	}
	folder := cmp.Or(f.web, builtWeb)
	if _, err := os.Stat(folder); f.web == "" && errors.Is(err, fs.ErrNotExist) {
		return errors.New("open: the page is missing: give --web DIR (make web-dist builds web/dist), --site URL, or " + campaign.SiteVariable)
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

// printLink prints the link of a scenario.
func (p program) printLink(site, path, text string) error {
	link := campaign.Link(site, text)
	if link == "" {
		return fmt.Errorf("open: %s is too long for a link: open it in the page at %s (Share, Open a scenario)", path, site)
	}
	fmt.Fprintln(p.stdout, link)
	return nil
}
