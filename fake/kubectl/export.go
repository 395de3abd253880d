package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// Exported selects the objects that Export reads.
type Exported struct {
	Resources []string // such as pods, deployments.apps; if nil, all that can be listed
	Secrets   bool     // also Secrets, if Resources is nil
}

// Export adds the objects of the target to a dump. It sends only GET requests: for discovery, and for lists in pages. All lists are
// read at the revision of the first one. A list that the server cannot return at that revision, because it has expired or the
// resource is in another store, is read at its newest revision. Resources that the user may not list are added to the dump's
// Skipped. Any other error ends the export.
func (t *Target) Export(ctx context.Context, of Exported, into *dump.Dump) error {
	c := &client.Client{Conn: Dial(ctx, t.Config.Server, t.Transport(), t.Token), Warnings: io.Discard, Discovery: &client.Discovery{}}
	resources, err := of.find(c)
	if err != nil {
		return err
	}
	rev := ""
	for _, m := range resources {
		pages, err := list(c, m, &rev)
		failed := (*client.StatusError)(nil)
		if errors.As(err, &failed) && failed.Code == http.StatusForbidden {
			into.Skipped = append(into.Skipped, dump.Problem{Place: t.Config.Server + m.Path("", ""), Reason: failed.Message})
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.GroupResource(), err)
		}
		for _, page := range pages {
			if err := into.Add(t.Config.Server+m.Path("", ""), page); err != nil {
				return err
			}
		}
	}
	return nil
}

// find returns the resources to read, each in its preferred version. Unless they are given, these are all that can be listed,
// except secrets if Secrets is not set. Events are read from one API group only.
func (of Exported) find(c *client.Client) (all []*client.Mapping, err error) {
	for _, name := range of.Resources {
		m, err := c.Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if of.Resources != nil {
		return all, nil
	}
	d, err := c.Discover()
	if err != nil {
		return nil, err
	}
	for _, m := range d.All {
		known := slices.ContainsFunc(all, func(o *client.Mapping) bool {
			return o.Is(m.Resource, m.Group) || m.Resource == "events" && o.Resource == "events"
		})
		if known || !slices.Contains(m.Verbs, "list") || m.Is("componentstatuses", "") || m.Is("secrets", "") && !of.Secrets {
			continue
		}
		all = append(all, m)
	}
	return all, nil
}

// list returns the pages of a list at *rev. If *rev is "", list reads the newest objects and sets *rev to their revision. If the
// server does not have the revision, list returns the newest objects.
func list(c *client.Client, m *client.Mapping, rev *string) (pages [][]byte, err error) {
	at, next := *rev, ""
	for {
		query := client.Query("limit", client.PageSize, "continue", next)
		if at != "" && next == "" {
			query.Set("resourceVersion", at)
			query.Set("resourceVersionMatch", "Exact")
		}
		a, err := c.Send(c.Request(wire.MethodGet, m.Path("", ""), query, "", nil))
		if failed := (*client.StatusError)(nil); errors.As(err, &failed) && failed.Code != http.StatusForbidden && at+next != "" {
			pages, at, next = nil, "", "" // it has expired, or is of another store
			continue
		}
		if err != nil {
			return nil, err
		}
		page, err := object.Parse(a.Body)
		if err != nil {
			return nil, err
		}
		if *rev == "" {
			*rev = page.String("metadata", "resourceVersion")
		}
		pages = append(pages, a.Body)
		if next = page.String("metadata", "continue"); next == "" {
			return pages, nil
		}
	}
}
