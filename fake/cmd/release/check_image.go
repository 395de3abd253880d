package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"sigs.k8s.io/yaml"
)

// checkImage unpacks the image for this machine and runs its command with the image as its root directory.
func (r *release) checkImage(ctx context.Context, temporary string) error {
	here := platform{"linux", runtime.GOARCH}
	if runtime.GOOS != "linux" || !slices.Contains(r.platforms, here) {
		return notHere("this machine runs no image of the release")
	}
	archive := filepath.Join(temporary, "archive")
	if err := unpack(r.file("image.oci.tar"), archive); err != nil {
		return err
	}
	image, err := findImage(archive, here)
	if err != nil {
		return err
	}
	root := filepath.Join(temporary, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	files := mutate.Extract(image)
	if err := errors.Join(untar(files, root), files.Close()); err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	err = r.runImage(ctx, root, config.Config)
	if errors.Is(err, syscall.EPERM) {
		return notHere("this user may not run a command in another root folder: " + err.Error())
	}
	return err
}

// findImage checks an unpacked OCI archive and returns its image for a platform. It returns an error if there is none.
func findImage(archive string, p platform) (v1.Image, error) {
	all, err := layout.ImageIndexFromPath(archive)
	if err != nil {
		return nil, err
	}
	if err := validate.Index(all); err != nil {
		return nil, err
	}
	list, err := all.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(list.Manifests) != 1 {
		return nil, fmt.Errorf("the archive has %d images, not one for several platforms", len(list.Manifests))
	}
	index, err := all.ImageIndex(list.Manifests[0].Digest)
	if err != nil {
		return nil, err
	}
	if list, err = index.IndexManifest(); err != nil {
		return nil, err
	}
	for _, m := range list.Manifests {
		if m.Platform.OS == p.os && m.Platform.Architecture == p.arch {
			return index.Image(m.Digest)
		}
	}
	return nil, fmt.Errorf("the archive has no image for %s", p)
}

// runImage runs the image's default command, and the command that pods of kubesim sweep --job run in it.
func (r *release) runImage(ctx context.Context, root string, config v1.Config) error {
	args := append(slices.Clone(config.Entrypoint[1:]), config.Cmd...)
	args = append(args, "--listen", "0.0.0.0:0") // the default port may be in use
	s, err := serve(ctx, process{path: config.Entrypoint[0], args: args, env: config.Env, root: root})
	if err != nil {
		return err
	}
	if s.token == "" {
		return errors.Join(fmt.Errorf("the image's command prints no token:\n%s", s.stderr), s.stop())
	}
	for token, code := range map[string]int{"": 403, "admintoken": 401, s.token: 200} { // order does not matter
		if err := s.get(s.url+"/api/v1/namespaces", token, code, ""); err != nil {
			return errors.Join(err, s.stop())
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	return r.runJob(ctx, root, config)
}

// runJob runs the command of a Job that sweeps a scenario.
func (r *release) runJob(ctx context.Context, root string, config v1.Config) error {
	if err := os.Mkdir(filepath.Join(root, "scenario"), 0o755); err != nil {
		return err
	}
	const scenario = "# Two objects.\ncreate configmaps a\ncreate configmaps b\neventually count configmaps == 2\n"
	if err := os.WriteFile(filepath.Join(root, "scenario/two.txtar"), []byte(scenario), 0o644); err != nil {
		return err
	}
	printed, err := output(ctx, process{path: config.Entrypoint[0], env: config.Env, root: root, args: []string{"sweep", "/scenario/two.txtar",
		"--seeds", "1:5", "--job", "2", "--image", imageName + ":" + r.version}})
	if err != nil {
		return err
	}
	var job struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Image   string
						Command []string
					}
				}
			}
		}
	}
	documents := strings.Split(printed, "---\n")
	if err := yaml.Unmarshal([]byte(documents[len(documents)-1]), &job); err != nil {
		return err
	}
	if len(job.Spec.Template.Spec.Containers) != 1 {
		return fmt.Errorf("the Job has no container:\n%s", printed)
	}
	command := job.Spec.Template.Spec.Containers[0].Command
	path, err := lookPath(root, config.Env, command[0])
	if err != nil {
		return err
	}
	out, err := output(ctx, process{path: path, args: command[1:], root: root,
		env: append(slices.Clone(config.Env), "KUBESIM_SHARDS=2", "JOB_COMPLETION_INDEX=1")})
	if err == nil && !strings.Contains(out, `"done":true`) {
		err = fmt.Errorf("%v prints:\n%s", command, out)
	}
	return err
}

// output runs a process and returns its standard output.
func output(ctx context.Context, p process) (string, error) {
	cmd, err := p.command(ctx)
	if err != nil {
		return "", err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w\n%s%s", p.path, p.args, err, out, &stderr)
	}
	return string(out), nil
}

// lookPath returns the path of a program in an image, like a container runtime.
func lookPath(root string, env []string, name string) (string, error) {
	for _, variable := range env {
		if list, ok := strings.CutPrefix(variable, "PATH="); ok {
			for folder := range strings.SplitSeq(list, ":") {
				if info, err := os.Stat(filepath.Join(root, folder, name)); err == nil && info.Mode()&0o111 != 0 {
					return folder + "/" + name, nil
				}
			}
		}
	}
	return "", fmt.Errorf("the image has no program %s in its PATH", name)
}
