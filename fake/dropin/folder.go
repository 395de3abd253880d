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

// programs are the names of this program in a Folder.
var programs = []string{"etcd", "kube-apiserver"}

// Folder creates a folder below cache for KUBEBUILDER_ASSETS and returns its path. The folder contains etcd and kube-apiserver,
// which are copies of the running program, and kubectl if there is one in the PATH. An existing folder is reused. Several processes
// may call Folder at the same time. If cache is "", the folder is in the user's cache. Folder returns an error if the folder cannot
// be created.
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

// Program returns the program of this package that the name of an executable selects, or "" if it selects none.
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

// sumOf returns the first bytes of a file's SHA-256 sum, in hexadecimal.
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

// place copies the program to a path unless the path exists. The copy is atomic.
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

// link creates a hard link to a program, or a copy if that is not possible.
func link(program, path string) error {
	if err := os.Link(program, path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return place(program, path)
}

// linkKubectl creates a symbolic link to the kubectl in the PATH. If there is none, it does nothing, because not all suites need
// kubectl.
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
