package encryption

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
)

// load reads the file.
func (v *Values) load() (*generation, error) {
	data, err := os.ReadFile(v.file.Name)
	if err != nil {
		return nil, fmt.Errorf("error while parsing file: error while loading file: error reading encryption provider configuration file %q: %w", v.file.Name, err)
	}
	c, err := parse(data, v.file.Name, v.reload)
	if err != nil {
		return nil, fmt.Errorf("error while parsing file: %w", err)
	}
	g, err := v.build(c)
	if err != nil {
		return nil, fmt.Errorf("error while building transformers: %w", err)
	}
	v.data = string(data)
	return g, nil
}

// Arrived implements config.StorageEncryption. It reads the file if it has changed and, for a request for the server's health, asks the
// key management services.
func (v *Values) Arrived(path string, logf func(format string, args ...any)) {
	if v.reload {
		v.reread(logf)
	}
	if strings.HasPrefix(path, "/healthz") || strings.HasPrefix(path, "/readyz") {
		v.check()
	}
}

// reread reads the file if it has changed. If it is invalid, or a service does not respond, the previous configuration stays
// (k8s.io/apiserver/pkg/server/options/encryptionconfig/controller).
func (v *Values) reread(logf func(format string, args ...any)) {
	if !v.loading.TryLock() { // another request reads it
		return
	}
	defer v.loading.Unlock()
	if !v.file.Changed() {
		return
	}
	before := v.data
	g, err := v.load()
	if err == nil && v.data == before {
		return
	}
	if err == nil {
		_, err = g.check(true)
	}
	from := uint64(0)
	if err == nil {
		from = v.nextRev()
	} else {
		logf("%q err=%q", "failed to process encryption config", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.reloads.failed, v.reloads.failureAt = v.reloads.failed+1, time.Now()
		return
	}
	g.from = from
	v.generations = append(v.generations, g)
	v.reloads.succeeded, v.reloads.successAt, v.reloads.hash = v.reloads.succeeded+1, time.Now(), hash(v.data)
}

// allServices is the name of the health check of all key management services.
const allServices = "kms-providers"

// Checks implements config.StorageEncryption. There is one check for all services if they are v2, or if the file may change.
func (v *Values) Checks() (names []string) {
	g := v.now()
	switch {
	case v.reload:
		return []string{"poststarthook/start-encryption-provider-config-automatic-reload", allServices}
	case g.onlyV2:
		return []string{allServices}
	}
	for i := range g.probes {
		names = append(names, fmt.Sprintf("kms-provider-%d", i))
	}
	return names
}

// check asks the services.
func (v *Values) check() {
	g := v.now()
	results, _ := g.check(v.reload || g.onlyV2)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.healthy = results
}

// check asks the services, and returns the results by the name of the health check. err is that of all services.
func (g *generation) check(together bool) (results map[string]error, err error) {
	results = map[string]error{}
	var errs []string
	for i, p := range g.probes {
		name := fmt.Sprintf("kms-provider-%d", i)
		err := p.probe(time.Now())
		if err != nil {
			errs = append(errs, name+": "+err.Error())
		}
		results[name] = err
	}
	if len(errs) > 0 {
		err = errors.New(field.Aggregate(errs))
	}
	if together {
		results = map[string]error{allServices: err}
	}
	return results, err
}

// Check implements config.StorageEncryption.
func (v *Values) Check(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.healthy[name]
}
