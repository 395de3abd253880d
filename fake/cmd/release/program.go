package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// platform is the operating system and architecture of a program.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// suffix returns the suffix of the platform's file names.
func (p platform) suffix() string { return p.os + "_" + p.arch }

// program returns the name of the command on the platform.
func (p platform) program() string {
	if p.os == "windows" {
		return "kubesim.exe"
	}
	return "kubesim"
}

var allPlatforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// parsePlatforms parses a comma-separated list of platforms.
func parsePlatforms(text string) (list []platform, err error) {
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(allPlatforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is not one of %v", name, allPlatforms)
		}
		list = append(list, allPlatforms[i])
	}
	return list, nil
}

// environment returns the environment of a build command. It overrides all settings of the caller that affect the result.
func (r *release) environment(more ...string) []string {
	env := append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0",
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	if r.cache != "" {
		env = append(env, "GOCACHE="+r.cache)
	}
	return append(env, more...)
}

// command runs a command in a directory of the project and returns its standard output.
func (r *release) command(ctx context.Context, folder string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = filepath.Join(r.root, folder), env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, &stderr)
	}
	return out, nil
}

// program builds the command, its archive and its SBOM for a platform, and returns the files in the archive.
func (r *release) program(ctx context.Context, p platform) ([]entry, error) {
	r.logf("building kubesim for %s", p)
	temporary, err := os.MkdirTemp("", "kubesim-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	binary := filepath.Join(temporary, p.program())
	env := r.environment("CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	if _, err := r.command(ctx, ".", env, goCommand(), "build", "-trimpath", "-ldflags", "-s -w -X main.release="+r.version,
		"-o", binary, "./fake/cmd/kubesim"); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	licenses, err := r.licenses(ctx, info)
	if err != nil {
		return nil, err
	}
	files := []entry{{name: p.program(), data: data, mode: 0o755}, {name: licensesFile, data: licenses}}
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, entry{name: name, data: text})
	}
	if err := r.writeSBOM(p, info, data); err != nil {
		return nil, err
	}
	return files, r.writeArchive(p, files)
}

// writeArchive writes the archive for a platform, which contains a directory with the files.
func (r *release) writeArchive(p platform, files []entry) error {
	folder := "kubesim_" + r.version + "_" + p.suffix()
	inside := []entry{directory(folder)}
	for _, f := range files {
		f.name = folder + "/" + f.name
		inside = append(inside, f)
	}
	if p.os == "windows" {
		return writeFile(r.file(p.suffix()+".zip"), inside, r.time, writeZip)
	}
	return writeFile(r.file(p.suffix()+".tar.gz"), inside, r.time, writeTarGz)
}

// goCommand returns the go command, which the Makefile passes in GO.
func goCommand() string {
	if name := os.Getenv("GO"); name != "" {
		return name
	}
	return "go"
}

// here returns the platform of this machine.
func here() platform { return platform{runtime.GOOS, runtime.GOARCH} }
