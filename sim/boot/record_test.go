package boot

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestTarget compares the data with the objects of a fresh real server at KUBESIM_TARGET (make boot-data starts one). If
// KUBESIM_RECORD is set, it writes the data instead. The server must have been started with --client-ca-file.
func TestTarget(t *testing.T) {
	url := os.Getenv("KUBESIM_TARGET")
	if url == "" {
		t.Skip("KUBESIM_TARGET names no fresh real server: make boot-data starts one")
	}
	is := is.New(t)
	r := real{is, url, os.Getenv("KUBESIM_TOKEN"), &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: os.Getenv("KUBESIM_INSECURE") != ""}}}}
	lines := r.objects()
	file := "data/" + r.minor() + ".jsonl"
	if os.Getenv("KUBESIM_RECORD") != "" {
		is.NoErr(os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
		return
	}
	known := recorded(r.minor())
	for _, line := range lines {
		if !slices.Contains(known, line) {
			t.Errorf("the real server has what is not recorded: %s", line)
		}
	}
	for _, line := range known {
		if !slices.Contains(lines, line) {
			t.Errorf("what is recorded is not on the real server: %s", line)
		}
	}
}

// real is a real server.
type real struct {
	*is.I
	url, token string
	client     *http.Client
}

func (r real) get(path string, into any) {
	q, err := http.NewRequest(http.MethodGet, r.url+path, nil)
	r.NoErr(err)
	q.Header.Set("Authorization", "Bearer "+r.token)
	res, err := r.client.Do(q)
	r.NoErr(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	r.NoErr(err)
	r.Equal(res.StatusCode, http.StatusOK) // GET path
	r.NoErr(json.Unmarshal(text, into))
}

func (r real) minor() string {
	var version struct{ Major, Minor string }
	r.get("/version", &version)
	return version.Major + "." + version.Minor
}

// objects returns all stored objects, one per line, sorted by kind, namespace and name.
func (r real) objects() []string {
	var lines []string
	for _, path := range r.collections() {
		var list struct {
			Kind, APIVersion string
			Items            []json.RawMessage
		}
		r.get(path, &list)
		for _, item := range list.Items {
			lines = append(lines, fmt.Sprintf(`{"kind":%q,"apiVersion":%q,%s`, strings.TrimSuffix(list.Kind, "List"), list.APIVersion,
				strings.TrimPrefix(string(item), "{")))
		}
	}
	lines = normal(lines)
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	return lines
}

// collections returns the paths of all lists of stored objects, each in the server's preferred version.
func (r real) collections() []string {
	type resources struct {
		Resources []struct {
			Name  string
			Verbs []string
		}
	}
	var core resources
	var groups struct {
		Groups []struct{ PreferredVersion struct{ GroupVersion string } }
	}
	all := func(prefix string, of resources) (paths []string) {
		for _, x := range of.Resources {
			if slices.Contains(x.Verbs, "list") && !strings.Contains(x.Name, "/") && x.Name != "componentstatuses" {
				paths = append(paths, prefix+x.Name)
			}
		}
		return paths
	}
	r.get("/api/v1", &core)
	paths := all("/api/v1/", core)
	r.get("/apis", &groups)
	for _, g := range groups.Groups {
		var more resources
		r.get("/apis/"+g.PreferredVersion.GroupVersion, &more)
		paths = append(paths, all("/apis/"+g.PreferredVersion.GroupVersion+"/", more)...)
	}
	return paths
}

var (
	anyUID     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyRev     = regexp.MustCompile(`"resourceVersion":"[0-9]+"`)
	anyTime    = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}`)
	anyFrac    = regexp.MustCompile(`\.[0-9]{6}Z`)
	anyDate    = regexp.MustCompile(`"since":"[0-9-]+"`)
	anyCA      = regexp.MustCompile(`"client-ca-file":"[^"]*"`)
	theAddress = regexp.MustCompile(`"ip":"([^"]+)"`)
	thePort    = regexp.MustCompile(`"targetPort":([0-9]+)`)
	theHost    = regexp.MustCompile(`"kubernetes.io/hostname":"([^"]+)"`)
	theName    = regexp.MustCompile(`"name":"(apiserver-[a-z0-9]+)"`)
)

// normal replaces values that differ between servers with fixed ones. Replacements of times, uids and revisions have the same
// length as the originals.
func normal(lines []string) []string {
	all := strings.Join(lines, "\n")
	replace := func(of *regexp.Regexp, by string) {
		if found := of.FindStringSubmatch(all); found != nil {
			all = regexp.MustCompile(`\b`+regexp.QuoteMeta(found[1])+`\b`).ReplaceAllString(all, by)
		}
	}
	replace(theAddress, "192.0.2.1")
	replace(thePort, "6443")
	if host := theHost.FindStringSubmatch(all); host != nil {
		all = strings.ReplaceAll(all, host[0], `"kubernetes.io/hostname":"kubesim"`)
	}
	if name := theName.FindStringSubmatch(all); name != nil {
		all = strings.ReplaceAll(all, name[1], "apiserver")
	}
	all = anyUID.ReplaceAllString(all, noUID)
	all = anyRev.ReplaceAllString(all, noRev)
	all = anyTime.ReplaceAllString(all, noDate+noClock)
	all = anyFrac.ReplaceAllString(all, ".000000Z")
	all = anyDate.ReplaceAllString(all, `"since":"`+noDate+`"`)
	all = anyCA.ReplaceAllString(all, `"client-ca-file":""`)
	return strings.Split(all, "\n")
}

// order returns the sort key of a line.
func order(line string) string {
	var o struct {
		Kind, APIVersion string
		Metadata         struct{ Namespace, Name string }
	}
	_ = json.Unmarshal([]byte(line), &o) // it was made from JSON
	return o.Kind + " " + o.Metadata.Namespace + " " + o.Metadata.Name
}
