package podspec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// ports warns about containers that use the same port.
func (w *podWarner) ports() {
	type wanted struct {
		number   int64
		protocol string
	}
	all := map[wanted][]field.Cursor{}
	for _, port := range w.portsOfAll {
		ip, host := port.String("hostIP"), port.Int64("hostPort")
		if ip != "" && host == 0 {
			w.add(port, fmt.Sprintf("hostIP set without hostPort: {Name:%s HostPort:0 ContainerPort:%d Protocol:%s HostIP:%s}",
				port.String("name"), port.Int64("containerPort"), port.String("protocol"), ip))
		}
		key := wanted{port.Int64("containerPort"), port.String("protocol")}
		for _, other := range all[key] {
			otherIP, otherHost := other.String("hostIP"), other.Int64("hostPort")
			switch {
			case ip == otherIP && host == otherHost:
				w.add(port, "duplicate port definition with "+other.Path().String())
			case host == 0 || otherHost == 0:
				w.add(port, "overlapping port definition with "+other.Path().String())
			case host == otherHost && (ip == "") != (otherIP == ""):
				w.add(port, "dangerously ambiguous port definition with "+other.Path().String())
			}
		}
		all[key] = append(all[key], port)
	}
}

// portNames warns about containers that share a port name, because services and probes use only the first port with a name.
func (w *podWarner) portNames() {
	first := map[string]field.Cursor{}
	for _, port := range w.portsOfAll {
		name := port.String("name")
		if other, ok := first[name]; ok {
			w.add(port, fmt.Sprintf("duplicate port name %q with %s, services and probes that select ports by name will use %[2]s", name, other.Path()))
		} else if name != "" {
			first[name] = port
		}
	}
}

// placedFile is the path of a file in a volume, and the source that provides the file. If the volume has only one source, source is
// "".
type placedFile struct{ path, source string }

func (f placedFile) String() string {
	if f.source == "" {
		return strconv.Quote(f.path)
	}
	return strconv.Quote(f.path) + " (" + f.source + ")"
}

// overlappingPaths warns about files in a volume whose paths overlap.
func (w *podWarner) overlappingPaths() {
	for _, v := range w.spec.Objects("volumes") {
		name := strconv.Quote(v.String("name"))
		for _, s := range [][3]string{{"configMap", "name", "ConfigMap"}, {"secret", "secretName", "Secret"}, {"downwardAPI", "", "DownwardAPI"}} {
			source := v.At(s[0])
			if source == nil {
				continue
			}
			text := s[2]
			if s[1] != "" {
				text += " " + strconv.Quote(source.String(s[1]))
			}
			w.overlaps(name, text, itemPaths(source, ""))
		}
		var files []placedFile
		for _, source := range v.Objects("projected", "sources") {
			if len(source) == 0 {
				w.ctx.Warn("volume " + name + " (Projected) has no sources provided")
				continue
			}
			files = append(files, projectedPaths(source)...)
		}
		w.overlaps(name, "Projected", files)
	}
}

func itemPaths(source object.Object, name string) []placedFile {
	var files []placedFile
	for _, item := range source.Objects("items") {
		files = append(files, placedFile{item.String("path"), name})
	}
	return files
}

// projectedPaths returns the files from one source of a projected volume.
func projectedPaths(source object.Object) []placedFile {
	switch {
	case len(source.List("configMap", "items")) > 0:
		return itemPaths(source.At("configMap"), "ConfigMap "+strconv.Quote(source.String("configMap", "name")))
	case len(source.List("secret", "items")) > 0:
		return itemPaths(source.At("secret"), "Secret "+strconv.Quote(source.String("secret", "name")))
	case len(source.List("downwardAPI", "items")) > 0:
		return itemPaths(source.At("downwardAPI"), "DownwardAPI")
	case source.Has("serviceAccountToken"):
		return []placedFile{{source.String("serviceAccountToken", "path"), "ServiceAccountToken"}}
	}
	return nil
}

// overlaps warns about files whose path equals, contains or is within the path of another file.
func (w *podWarner) overlaps(volume, source string, files []placedFile) {
	var before []placedFile
	for _, f := range files {
		f.path = strings.TrimRight(f.path, "/")
		for _, other := range before {
			if f.path == "" || other.path == "" {
				continue
			}
			if strings.HasPrefix(other.path+"/", f.path+"/") || strings.HasPrefix(f.path+"/", other.path+"/") {
				w.ctx.Warn(fmt.Sprintf("volume %s (%s): overlapping paths: %s with %s", volume, source, f, other))
			}
		}
		before = append(before, f)
	}
}
