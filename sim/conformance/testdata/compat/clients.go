package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kubectl builds the kubectl of a minor and does its sessions.
func kubectl(i int) func(context.Context, flags, row) error {
	return func(ctx context.Context, f flags, r row) error {
		m := ofMinor(f, i)
		program, err := m.build(ctx, "kubectl", "-X k8s.io/component-base/version.gitVersion=v"+r.version)
		if err != nil {
			return err
		}
		return f.sessions(ctx, m.dir, filepath.Dir(program), "kubectl")
	}
}

// helm installs a Helm and does its sessions.
func helm(path string) func(context.Context, flags, row) error {
	return func(ctx context.Context, f flags, r row) error {
		bin, err := installHelm(ctx, f, path+"@v"+r.version)
		if err != nil {
			return err
		}
		return f.sessions(ctx, filepath.Dir(bin), bin, "helm")
	}
}

// installHelm installs a Helm, given as MODULE@vVERSION, unless it exists, and returns its folder.
func installHelm(ctx context.Context, f flags, module string) (bin string, err error) {
	path, version, _ := strings.Cut(module, "@v")
	dir := filepath.Join(f.work, "helm-"+version)
	bin = filepath.Join(dir, "bin")
	if executable(filepath.Join(bin, "helm")) {
		return bin, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	out, err := command(ctx, dir, []string{"GOBIN=" + bin}, "go", "install", "-ldflags", "-s -w -X "+path+"/internal/version.version=v"+version, path+"/cmd/helm@v"+version)
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, nil
}

// sessions runs the session of a program with only an API server, and the session with running pods, which needs kubesim.
func (f flags) sessions(ctx context.Context, dir, bin, name string) error {
	err := f.session(ctx, filepath.Join(dir, name+"-session"), bin, name+".txt")
	if f.target == "" {
		err = errors.Join(err, f.session(ctx, filepath.Join(dir, name+"-nodes-session"), bin, name+"-nodes.txt", "--nodes", "2"))
	}
	return err
}

func (f flags) session(ctx context.Context, dir, bin, name string, args ...string) error {
	s, err := readSession(name)
	if err != nil {
		return err
	}
	srv, err := f.start(ctx, dir+"-server", args...)
	if err != nil {
		return err
	}
	defer srv.stop()
	if err := s.run(ctx, dir, bin, []string{"KUBECONFIG=" + srv.kubeconfig}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// node installs the JavaScript client and runs testdata/node/client.mjs.
func node(ctx context.Context, f flags, r row) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return notHere("there is no npm (https://nodejs.org)")
	}
	dir := filepath.Join(f.work, "node-"+r.version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@kubernetes", "client-node")); err != nil {
		packages := []string{"@kubernetes/client-node@" + r.version}
		if r.version[0] > '1' {
			packages = append(packages, "node@24") // which it needs, whatever the system has
		}
		if out, err := command(ctx, dir, nil, "npm", append([]string{"install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", dir}, packages...)...); err != nil {
			return notHere("npm does not install it: " + lastLine(out))
		}
	}
	program := "node"
	if own := filepath.Join(dir, "node_modules", "node", "bin", "node"); executable(own) {
		program = own
	}
	return f.script(ctx, dir, nil, filepath.Join("node", "client.mjs"), program)
}

// python uses the installed Python client, or installs it, and runs testdata/python/client.py.
func python(ctx context.Context, f flags, r row) error {
	dir := filepath.Join(f.work, "python")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	env := []string{"PYTHONPATH=" + filepath.Join(dir, "lib")}
	find := func() string {
		for _, name := range []string{"/usr/bin/python3", "python3"} {
			out, err := command(ctx, dir, env, name, "-c", "import kubernetes; print(kubernetes.__version__)")
			if err == nil && strings.TrimSpace(string(out)) == r.version {
				return name
			}
		}
		return ""
	}
	name := find()
	if name == "" {
		install := []string{"python3", "-m", "pip", "install", "--target", filepath.Join(dir, "lib"), "kubernetes==" + r.version}
		if _, err := exec.LookPath("apt-get"); err == nil {
			install = []string{"apt-get", "install", "-y", "-qq", "--no-install-recommends", "python3-kubernetes"}
			command(ctx, dir, nil, "apt-get", "update", "-qq")
		}
		out, err := command(ctx, dir, nil, install[0], install[1:]...)
		if name = find(); name == "" {
			if err != nil {
				return notHere(install[0] + " does not install it: " + lastLine(out))
			}
			return notHere("the system's package is another version")
		}
	}
	return f.script(ctx, dir, env, filepath.Join("python", "client.py"), name)
}

// script runs a script of testdata against a server with nodes.
func (f flags) script(ctx context.Context, dir string, env []string, name, interpreter string) error {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		return err
	}
	copied := filepath.Join(dir, filepath.Base(name)) // beside the installed modules
	if err := os.WriteFile(copied, text, 0o644); err != nil {
		return err
	}
	srv, err := f.start(ctx, filepath.Join(dir, "server"), "--nodes", "1")
	if err != nil {
		return err
	}
	defer srv.stop()
	env = append(env, "KUBECONFIG="+srv.kubeconfig, unused())
	if f.target != "" {
		env = append(env, "WITHOUT_NODES=1")
	}
	out, err := command(ctx, dir, env, interpreter, copied)
	if err == nil && !strings.HasSuffix(string(out), "all is well\n") {
		err = errors.New("it ended early")
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}
