package outbound

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// ManifestReader receives the documents of the directories. A Cluster implements it.
type ManifestReader interface {
	SetManifests(plugin string, documents []sim.Manifest) error
}

// Manifests are the directories with webhook configurations and admission policies (staticManifestsDir of
// --admission-control-config-file, KEP-5793). If a file changes, its directory is read again; if the new contents are invalid, the
// previous ones apply.
type Manifests struct {
	mu   sync.Mutex
	dirs []*manifestDir // sorted by plugin
}

// manifestDir is the directory of one plugin.
type manifestDir struct {
	plugin, path string
	state        string // names, sizes and times of the files
	hash         string // of the contents that were read last
	applied      string // hash of the contents that apply

	succeeded, failed    int
	successAt, failureAt time.Time
}

// add adds the directory of a plugin. It returns kube-apiserver's error if the directory does not exist (ValidateStaticManifestsDir).
func (m *Manifests) add(plugin, path string) error {
	const field = "staticManifestsDir: Invalid value: "
	info, err := os.Stat(path)
	switch {
	case !filepath.IsAbs(path):
		return fmt.Errorf("%s%q: must be an absolute file path", field, path)
	case err != nil:
		return fmt.Errorf("%s%q: unable to read: %w", field, path, err)
	case !info.IsDir():
		return fmt.Errorf("%s%q: must be a directory", field, path)
	}
	m.dirs = append(m.dirs, &manifestDir{plugin: plugin, path: path})
	slices.SortFunc(m.dirs, func(a, b *manifestDir) int { return strings.Compare(a.plugin, b.plugin) })
	return nil
}

// Load reads all directories. It returns an error if one is invalid.
func (m *Manifests) Load(to ManifestReader) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.dirs {
		d.state = d.listing()
		documents, hash, err := d.read()
		if err == nil {
			err = to.SetManifests(d.plugin, documents)
		}
		if err != nil {
			return fmt.Errorf("failed to load static manifests from %q: %w", d.path, err)
		}
		if d.hash, d.applied = hash, hash; d.succeeded == 0 { // it is not a fork
			d.succeeded, d.successAt = 1, time.Now()
		}
	}
	return nil
}

// Reload reads the directories that have changed. If another goroutine reads them, it does nothing.
func (m *Manifests) Reload(to ManifestReader) {
	if len(m.dirs) == 0 || !m.mu.TryLock() {
		return
	}
	defer m.mu.Unlock()
	for _, d := range m.dirs {
		state := d.listing()
		if state == d.state {
			continue
		}
		d.state = state
		documents, hash, err := d.read()
		if err == nil && hash == d.hash {
			continue
		}
		if err == nil {
			err = to.SetManifests(d.plugin, documents)
		}
		if err != nil {
			d.failed, d.failureAt = d.failed+1, time.Now()
			continue
		}
		d.hash, d.applied, d.succeeded, d.successAt = hash, hash, d.succeeded+1, time.Now()
	}
}

// files returns the names of the files in the directory, sorted.
func (d *manifestDir) files() ([]os.DirEntry, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("failed to read manifest directory %q: %w", d.path, err)
	}
	return slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name())))
	}), nil
}

// listing returns a text that differs after a file was added, removed or written.
func (d *manifestDir) listing() string {
	entries, err := d.files()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintln(&b, e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// read returns the documents in the files, and the hash of their contents, which is "" if there are none.
func (d *manifestDir) read() (documents []sim.Manifest, hash string, err error) {
	entries, err := d.files()
	if err != nil {
		return nil, "", err
	}
	sum, any := sha256.New(), false
	for _, e := range entries {
		name := filepath.Join(d.path, e.Name())
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, "", fmt.Errorf("failed to read file %q: %w", name, err)
		}
		if len(data) == 0 {
			continue
		}
		sum.Write(append(data, 0))
		any = true
		for _, doc := range documentsOf(data) {
			text, err := codec.YAMLToJSONStrict(doc)
			if err != nil {
				return nil, "", fmt.Errorf("error loading %s: %w", name, err)
			}
			documents = append(documents, sim.Manifest{File: name, JSON: text})
		}
	}
	if any {
		hash = fmt.Sprintf("sha256:%x", sum.Sum(nil))
	}
	return documents, hash, nil
}

// documentsOf splits a file at lines that begin with ---. It omits empty documents.
func documentsOf(data []byte) (all [][]byte) {
	for doc := range bytes.SplitSeq(append([]byte("\n"), data...), []byte("\n---")) {
		if doc = bytes.TrimSpace(doc); len(doc) > 0 {
			all = append(all, doc)
		}
	}
	return all
}

// Metrics returns the metrics of reloads in the text format of Prometheus (k8s.io/apiserver/pkg/admission/plugin/manifest/metrics).
func (m *Manifests) Metrics() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.dirs) == 0 {
		return ""
	}
	const prefix = "apiserver_manifest_admission_config_controller_"
	id := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(boot.LeaseName(boot.Host))))
	times, counts, infos := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, d := range m.dirs {
		for status, x := range map[string]struct { // order does not matter: it fills maps
			n  int
			at time.Time
		}{"success": {d.succeeded, d.successAt}, "failure": {d.failed, d.failureAt}} {
			if labels := fmt.Sprintf("apiserver_id_hash=%q,plugin=%q,status=%q", id, d.plugin, status); x.n > 0 {
				counts[labels], times[labels] = float64(x.n), float64(x.at.UnixNano())/1e9
			}
		}
		infos[fmt.Sprintf("apiserver_id_hash=%q,hash=%q,plugin=%q", id, d.applied, d.plugin)] = 1
	}
	var b strings.Builder
	for _, f := range []struct {
		name, help, kind string
		samples          map[string]float64
	}{
		{"automatic_reload_last_timestamp_seconds", "Timestamp of the last automatic reload of admission manifest configuration split by status, plugin, and apiserver identity.", "gauge", times},
		{"automatic_reloads_total", "Total number of automatic reloads of admission manifest configuration split by status, plugin, and apiserver identity.", "counter", counts},
		{"last_config_info", "Information about the last applied admission manifest configuration with hash as label, split by plugin and apiserver identity.", "gauge", infos},
	} {
		fmt.Fprintf(&b, "# HELP %s%s [ALPHA] %s\n# TYPE %[1]s%[2]s %[4]s\n", prefix, f.name, f.help, f.kind)
		for _, labels := range object.SortedKeys(f.samples) {
			fmt.Fprintf(&b, "%s%s{%s} %v\n", prefix, f.name, labels, f.samples[labels])
		}
	}
	return b.String()
}
