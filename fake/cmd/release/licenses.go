package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// licensesFile is the name of the file with the licenses of all third-party components of a program or of the page.
const licensesFile = "THIRD_PARTY_LICENSES"

// licenseFile matches the names of license files that must accompany a copy of a module.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(\.(txt|md))?$`)

// licenses returns the licenses of Go and of the modules in a program.
func (r *release) licenses(ctx context.Context, info *debug.BuildInfo) ([]byte, error) {
	root, err := r.command(ctx, ".", r.environment(), goCommand(), "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	all, err := licensesIn("Go "+info.GoVersion, strings.TrimSpace(string(root)))
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		folder, err := r.command(ctx, ".", r.environment(), goCommand(), "list", "-m", "-f", "{{.Dir}}", m.Path)
		if err != nil {
			return nil, err
		}
		more, err := licensesIn(m.Path+" "+m.Version, strings.TrimSpace(string(folder)))
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// npmLicenses returns the licenses of the npm packages in the page.
func (r *release) npmLicenses(ctx context.Context) (all []byte, err error) {
	out, err := r.command(ctx, "web", r.environment(), "npm", "ls", "--omit=dev", "--all", "--parseable")
	if err != nil {
		return nil, err
	}
	folders := strings.Split(strings.TrimSpace(string(out)), "\n") // the first one is web itself
	for _, folder := range folders[1:] {
		name, err := filepath.Rel(filepath.Join(folders[0], "node_modules"), folder)
		if err != nil {
			return nil, err
		}
		more, err := licensesIn(filepath.ToSlash(name), folder)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// licensesIn returns the licenses in a directory, with the component's name as the heading. It returns an error if the
// directory has no license.
func licensesIn(name, folder string) ([]byte, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, f := range files {
		if !licenseFile.MatchString(f.Name()) || !f.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "==== %s: %s ====\n\n%s\n\n", name, f.Name(), bytes.TrimSpace(text))
	}
	if all.Len() == 0 {
		return nil, fmt.Errorf("%s has no license in %s", name, folder)
	}
	return all.Bytes(), nil
}
