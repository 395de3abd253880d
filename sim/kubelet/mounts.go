package kubelet

import (
	"path"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/object"
)

// Files that containers write into volumes outlive them:
//
//	emptyDir                  as long as the pod is on the node      pod.Files       cache/a
//	hostPath                  as long as the node                    memory.Files    /data/a
//	persistentVolumeClaim     as long as the first node, for all     memory.Files    pv:NAME/a
//
// A container sees the files that existed when it started, and stores its changes when it ends. A command that is run in it stores its
// changes at once. Two containers that run at the same time do not see each other's files.

// fileLocation is where the files of a volume are kept: in which map, and below which path.
type fileLocation struct {
	files *map[string]string
	below string
}

// shelfOf returns where the files of a volume are kept, if containers can write to it.
func (w *worker) shelfOf(volume object.Object) (s fileLocation, ok bool) {
	switch {
	case volume.Has("emptyDir"):
		return fileLocation{&w.rec.Files, volume.String("name")}, true
	case volume.Has("hostPath"):
		return fileLocation{&w.k.memory.Files, path.Clean(volume.String("hostPath", "path"))}, true
	case volume.Has("persistentVolumeClaim"):
		claim := w.api.Get(claims, w.pod.Namespace(), volume.String("persistentVolumeClaim", "claimName"))
		if name := claim.String("spec", "volumeName"); name != "" {
			return fileLocation{&w.k.nodes.all[0].memory.Files, "pv:" + name}, true
		}
	}
	return s, false
}

// eachWritableMount calls yield for each mount of a container that it can write to: with its path in the container, and where its files
// are kept.
func (w *worker) eachWritableMount(c *container, yield func(mount string, s fileLocation)) {
	for _, m := range c.spec.Objects("volumeMounts") {
		for _, v := range w.pod.Objects("spec", "volumes") {
			if v.String("name") != m.String("name") || m.True("readOnly") {
				continue
			}
			if s, ok := w.shelfOf(v); ok {
				s.below = path.Join(s.below, m.String("subPath"))
				yield(path.Clean(m.String("mountPath")), s)
			}
		}
	}
}

// mountedFiles returns the files that a container finds in its volumes when it starts.
func (w *worker) mountedFiles(c *container) (files map[string]*string) {
	w.eachWritableMount(c, func(mount string, s fileLocation) {
		for _, name := range object.SortedKeys(*s.files) {
			if rest, ok := strings.CutPrefix(name, s.below+"/"); ok {
				if files == nil {
					files = map[string]*string{}
				}
				text := (*s.files)[name]
				files[path.Join(mount, rest)] = &text
			}
		}
	})
	return files
}

// keep stores the files that a container has written to its volumes until a time.
func (w *worker) keep(c *container, at time.Time) {
	var files map[string]*string
	w.eachWritableMount(c, func(mount string, s fileLocation) {
		if files == nil {
			files = c.program.within(c.run, at, c.program.run(c.run.Started, max(at.Sub(c.run.Started), 1), 0)).Files
		}
		for _, name := range object.SortedKeys(files) {
			rest, ok := strings.CutPrefix(name, mount+"/")
			switch {
			case !ok:
			case files[name] == nil:
				delete(*s.files, s.below+"/"+rest)
			default:
				if *s.files == nil {
					*s.files = map[string]string{}
				}
				(*s.files)[s.below+"/"+rest] = *files[name]
			}
		}
	})
}

// site is the files that a container serves: each path is a file below its root.
type site struct {
	root  string
	files map[string]string
}

// sites are those of images that are web servers, by the image's name.
var sites = map[string]site{
	"nginx": {"/usr/share/nginx/html", map[string]string{"/index.html": "<h1>Welcome to nginx!</h1>\n"}},
	"httpd": {"/usr/local/apache2/htdocs", map[string]string{"/index.html": "<h1>It works!</h1>\n"}},
}

// siteOf returns the files that an image's server serves when it is started with arguments, or nil if the image is not a known server.
func siteOf(image string, args []string) *site {
	name := path.Base(images.Untagged(image))
	if name == "agnhost" && len(args) > 0 && args[0] == "test-webserver" {
		return &site{"/", map[string]string{"/localhost.crt": "", "/localhost.key": ""}}
	}
	if s, ok := sites[name]; ok && len(args) == 0 {
		return &s
	}
	return nil
}

// open returns a file as the image has it.
func (s *site) open(name string) (string, bool) {
	if s == nil {
		return "", false
	}
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(s.root, "/"))
	if !ok {
		return "", false
	}
	text, ok := s.files[rest]
	return text, ok
}

// isRemoved reports whether a path is that of a file of the image that was removed.
func (s *site) isRemoved(urlPath string, files map[string]*string) bool {
	if s == nil {
		return false
	}
	if urlPath == "" || strings.HasSuffix(urlPath, "/") {
		urlPath += "/index.html"
	}
	name := path.Join(s.root, urlPath)
	_, was := s.open(name)
	text, changed := files[name]
	return was && changed && text == nil
}
