package registry

import (
	"net/url"
	"testing"

	"github.com/kubesim/kubesim/sim/resource"
)

// FuzzListOptions parses the parameters of lists, watches and dry runs. They are either accepted, or rejected with a Status that is
// a client error.
func FuzzListOptions(f *testing.F) {
	for _, seed := range []string{"", "watch=1&resourceVersion=0&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=1",
		"limit=-1&continue=x", "limit=9999999999999999999", "labelSelector=a%20in%20(b,c)&fieldSelector=metadata.name=x", "resourceVersion=+1&timeoutSeconds=-0",
		"resourceVersionMatch=Exact", "dryRun=All&dryRun=x", "fieldSelector=spec.nodeName!=a"} {
		f.Add(seed)
	}
	d := &resource.Definition{}
	f.Fuzz(func(t *testing.T, text string) {
		query, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		if _, s := ParseListOptions(query, d); s != nil && (s.Code < 400 || s.Code > 499 || s.Message == "") {
			t.Fatalf("%q: %+v", text, s)
		}
		if yes, errs := ParseDryRun(query["dryRun"]); yes && len(errs) > 0 {
			t.Fatalf("%q: a dry run, and %v", text, errs)
		}
		if rev, ok := ParseRev(query.Get("resourceVersion")); !ok && rev != 0 {
			t.Fatalf("%q: revision %d", text, rev)
		}
	})
}
