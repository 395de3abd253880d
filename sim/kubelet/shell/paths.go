package shell

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// redirect moves the output since position first to the redirection's target.
func (p *process) redirect(r redirect, first int) {
	if r.same {
		for i := range p.out[first:] {
			if o := &p.out[first+i]; o.Error == (r.from == 2) {
				o.Error = !o.Error
			}
		}
		return
	}
	name := strings.Join(p.expand(r.to), "")
	text := ""
	if old, ok := p.read(name); ok && r.append {
		text = old
	}
	kept := p.out[:first]
	for _, o := range p.out[first:] {
		if o.Error == (r.from == 2) {
			text += o.Text
		} else {
			kept = append(kept, o)
		}
	}
	p.out = kept
	if name == "/proc/1/fd/1" || name == "/dev/stdout" {
		p.print(text)
		return
	}
	if !p.write(name, text) {
		p.complain("sh: can't create " + name + ": Read-only file system")
		p.code = 1
	}
}

// read returns the content of a file.
func (p *process) read(name string) (string, bool) {
	name = p.path(name)
	if text, known := p.files[name]; known {
		if text == nil {
			return "", false
		}
		return *text, true
	}
	if p.world.Open == nil {
		return "", false
	}
	return p.world.Open(name)
}

// path returns the path of a file relative to the current folder.
func (p *process) path(name string) string {
	if p.folder == "" || path.IsAbs(name) {
		return name
	}
	return path.Join(p.folder, name)
}

// write replaces a file's content. It reports false if the file system is read-only.
func (p *process) write(name, text string) bool {
	name = p.path(name)
	if p.isReadOnly(name) {
		return false
	}
	p.files[name] = &text
	return true
}

// isReadOnly reports whether a file is in a read-only volume or in a read-only root.
func (p *process) isReadOnly(name string) bool {
	if strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc/") {
		return false
	}
	for folder := path.Join("/", name); ; folder = path.Dir(folder) {
		if readOnly, mounted := p.world.Mounts[folder]; mounted || folder == "/" {
			return readOnly
		}
	}
}

// inVolume reports whether a file is in a volume.
func (p *process) inVolume(name string) bool {
	for folder := path.Join("/", p.path(name)); folder != "/"; folder = path.Dir(folder) {
		if _, mounted := p.world.Mounts[folder]; mounted {
			return true
		}
	}
	return false
}

// mayBeInImage reports whether a task may assume that a file exists: the files of images are unknown, so it is not in a volume and was
// not removed. Init containers copy programs from their image to a volume.
func (p *process) mayBeInImage(name string) bool {
	_, known := p.files[p.path(name)]
	return p.world.Task && !known && !p.inVolume(name)
}

// children returns the names in a folder, in order.
func (p *process) children(folder string) (names []string) {
	below := strings.TrimSuffix(path.Clean(p.path(folder)), "/") + "/"
	for _, file := range slices.AppendSeq(slices.Clone(p.world.Names), maps.Keys(p.files)) { // sorted below
		rest, ok := strings.CutPrefix(file, below)
		if text, known := p.files[file]; ok && (text != nil || !known) {
			child, _, _ := strings.Cut(rest, "/")
			names = append(names, child)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// matches returns the known files whose last part matches that of a pattern such as /etc/*.conf, or the pattern if there are none.
func (p *process) matches(pattern string) (names []string) {
	folder, last := path.Split(pattern)
	for _, name := range p.children(cmp.Or(folder, ".")) {
		if ok, err := path.Match(last, name); ok && err == nil && (name[0] != '.' || last[0] == '.') {
			names = append(names, folder+name)
		}
	}
	if len(names) == 0 {
		return []string{pattern}
	}
	return names
}

// isFolder reports whether a path is a folder of every image, a volume, or a folder with known files.
func (p *process) isFolder(name string) bool {
	name = path.Clean(p.path(name))
	_, mounted := p.world.Mounts[name]
	return mounted || slices.Contains(folders, name) || len(p.children(name)) > 0
}
