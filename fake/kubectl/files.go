package kubectl

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Disk are the files of the machine, as kubectl.Files.
type Disk struct{}

// ReadFile implements kubectl.Files.
func (Disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// WriteFile implements kubectl.Files.
func (Disk) WriteFile(name string, data []byte) error { return os.WriteFile(name, data, 0o644) }

// Names is kubectl.Files': files of folders below come along.
func (Disk) Names(folder string) (out []string) {
	if folder == "" {
		folder = "."
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil
	}
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, filepath.ToSlash(path))
		}
		return nil
	})
	return out
}

// Edit lets the user edit a text in an editor. If editor is "", it uses vi.
func Edit(editor, text string) (string, error) {
	file, err := os.CreateTemp("", "kubectl-edit-*.yaml")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	if _, err = file.WriteString(text); err == nil {
		err = file.Close()
	}
	if err != nil {
		return "", err
	}
	if editor == "" {
		editor = "vi"
	}
	words := append(strings.Fields(editor), file.Name())
	c := exec.Command(words[0], words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return "", err
	}
	edited, err := os.ReadFile(file.Name())
	return string(edited), err
}
