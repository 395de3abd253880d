package dropin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// programs are the names that this program has in a Folder.
var programs = []string{"etcd", "kube-apiserver"}

// Folder makes a folder below cache for KUBEBUILDER_ASSETS, and returns its path. The folder contains etcd and kube-apiserver, which are
// copies of the running program, and kubectl if one is on the PATH. An existing folder is used again. Several processes may call Folder at
// the same time. If cache is "", a folder in the user's cache is used.
func Folder(cache string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if cache == "" {
		if cache, err = os.UserCacheDir(); err != nil {
			return "", err
		}
		cache = filepath.Join(cache, "kubesim", "envtest")
	}
	sum, err := sumOf(self)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, release+"-"+runtime.GOOS+"-"+runtime.GOARCH+"-"+sum)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := place(self, filepath.Join(dir, programs[0]+suffix())); err != nil {
		return "", err
	}
	if err := link(filepath.Join(dir, programs[0]+suffix()), filepath.Join(dir, programs[1]+suffix())); err != nil {
		return "", err
	}
	return dir, linkKubectl(filepath.Join(dir, "kubectl"+suffix()))
}

// Program returns the program of this package that an executable of this name is, "" for another one.
func Program(name string) string {
	base := filepath.Base(name)
	for _, p := range programs {
		if base == p || base == p+suffix() {
			return p
		}
	}
	return ""
}

func suffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// sumOf returns the beginning of the SHA-256 sum of a file.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}

// place copies the program to a path, unless it exists. The copy is atomic.
func place(self, path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	err = errors.Join(err, to.Chmod(0o755), to.Close())
	if err == nil {
		err = os.Rename(to.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot make %s: %w", path, err), os.Remove(to.Name()))
	}
	return nil
}

// link gives a program a second name, or copies it where that cannot be.
func link(program, path string) error {
	if err := os.Link(program, path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return place(program, path)
}

// linkKubectl links to the kubectl of the PATH. Suites that do not call it need none.
func linkKubectl(path string) error {
	found, err := exec.LookPath("kubectl")
	if err != nil {
		return nil
	}
	if found, err = filepath.Abs(found); err != nil || found == path {
		return err
	}
	if err := os.Symlink(found, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
