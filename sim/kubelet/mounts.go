package kubelet

import (
	"path"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/object"
)

// Files that containers write to volumes outlive the containers. The table shows how long they exist and under which key they are
// stored:
//
//	emptyDir                  while the pod is on the node                        pod.Files       cache/a
//	hostPath                  while the node exists                               memory.Files    /data/a
//	persistentVolumeClaim     while the first node exists, shared by all nodes    memory.Files    pv:NAME/a
//
// A container sees the files that existed when it started, and stores its changes when it ends. A command executed in it stores
// its changes immediately. Two containers that run concurrently do not see each other's files.

// fileLocation identifies where the files of a volume are stored: in a map, below a path.
type fileLocation struct {
	files *map[string]string
	below string
}

// volumeLocation returns the location of a volume's files. It returns false if containers cannot write to the volume.
func (w *worker) volumeLocation(volume object.Object) (s fileLocation, ok bool) {
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

// eachWritableMount calls yield for each writable mount of a container, with its path in the container and the location of its
// files.
func (w *worker) eachWritableMount(c *container, yield func(mount string, s fileLocation)) {
	for _, m := range c.spec.Objects("volumeMounts") {
		for _, v := range w.pod.Objects("spec", "volumes") {
			if v.String("name") != m.String("name") || m.True("readOnly") {
				continue
			}
			if s, ok := w.volumeLocation(v); ok {
				s.below = path.Join(s.below, m.String("subPath"))
				yield(path.Clean(m.String("mountPath")), s)
			}
		}
	}
}

// mountedFiles returns the files in a container's volumes at its start, by their paths in the container.
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

// keep stores the files that a container has written to its volumes until the given time.
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

// mounts returns the paths of a container's volumes, and whether they are read-only.
func mounts(pod, c object.Object) map[string]bool {
	all := map[string]bool{}
	if c.True("securityContext", "readOnlyRootFilesystem") {
		all["/"] = true
	}
	for _, m := range c.Objects("volumeMounts") {
		readOnly := m.True("readOnly")
		for _, v := range pod.Objects("spec", "volumes") {
			if v.String("name") == m.String("name") {
				readOnly = readOnly || v.Has("configMap") || v.Has("secret") || v.Has("projected") || v.Has("downwardAPI")
			}
		}
		all[path.Clean(m.String("mountPath"))] = readOnly
	}
	return all
}

// resolvConf returns the content of /etc/resolv.conf in a pod.
func resolvConf(pod object.Object) string {
	var servers, searches []string
	options := map[string]string{}
	if policy := pod.String("spec", "dnsPolicy"); policy == "ClusterFirst" && !pod.True("spec", "hostNetwork") || policy == "ClusterFirstWithHostNet" {
		servers = []string{"10.96.0.10"}
		searches = []string{pod.Namespace() + ".svc.cluster.local", "svc.cluster.local", "cluster.local"}
		options["ndots"] = "5"
	}
	config := object.Object(pod.Map("spec", "dnsConfig"))
	for _, o := range config.Objects("options") {
		options[o.String("name")] = o.String("value")
	}
	text := ""
	if searches = append(searches, config.Strings("searches")...); len(searches) > 0 {
		text = "search " + strings.Join(searches, " ") + "\n"
	}
	for _, server := range append(servers, config.Strings("nameservers")...) {
		text += "nameserver " + server + "\n"
	}
	if len(options) > 0 {
		text += "options"
		for _, name := range object.SortedKeys(options) {
			text += " " + strings.TrimSuffix(name+":"+options[name], ":")
		}
		text += "\n"
	}
	return text
}

// site holds the files that a web server in a container serves. The keys of files are paths below root.
type site struct {
	root  string
	files map[string]string
}

// sites maps the names of web server images to the files that they serve.
var sites = map[string]site{
	"nginx": {"/usr/share/nginx/html", map[string]string{"/index.html": "<h1>Welcome to nginx!</h1>\n"}},
	"httpd": {"/usr/local/apache2/htdocs", map[string]string{"/index.html": "<h1>It works!</h1>\n"}},
}

// siteOf returns the files that an image serves when it is started with arguments, or nil if the image is not a known web server.
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

// open returns the content of a file in the image, without the changes of containers. It returns false if the image does not have
// the file.
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

// isRemoved reports whether a URL path refers to a file of the image that has been removed.
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
