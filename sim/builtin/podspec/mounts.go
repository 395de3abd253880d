package podspec

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// volumeMounts checks the volume mounts of a container. Some errors have the path of the list, because the server omits the index.
func (r *Rules) volumeMounts(c field.Cursor) {
	list := c.Child("volumeMounts")
	if list.Len() == 0 {
		return
	}
	devices, devicePaths := namesAndPaths(c.Object(), "volumeDevices", "devicePath")
	taken := field.Seen{}
	for m := range list.Each() {
		name, path := m.Child("name").OrEmpty(), m.Child("mountPath").OrEmpty()
		name.Required()
		if _, ok := r.volumes[name.String()]; !ok {
			name.NotFound(name.Value())
		}
		path.Required()
		path.InvalidIf(taken.Again(path.String()), "must be unique")
		name.InvalidIf(devices[name.String()], "must not already exist in volumeDevices")
		path.InvalidIf(devicePaths[path.String()], "must not already exist as a path in volumeDevices")

		m.Child("subPath").ReportAt(list.Child("subPath")).IfGiven().Check(field.DescendingPath)
		expr := m.Child("subPathExpr").IfGiven()
		expr.InvalidIf(expr.Has() && m.String("subPath") != "", "subPathExpr and subPath are mutually exclusive")
		expr.ReportAt(list.Child("subPathExpr")).Check(field.DescendingPath)

		propagation := m.Child("mountPropagation").ReportAt(list.Child("mountPropagation")).OneOf("Bidirectional", "HostToContainer", "None")
		propagation.ForbidIf(propagation.String() == "Bidirectional" && !c.True("securityContext", "privileged"),
			"Bidirectional mount propagation is available only to privileged containers")
		recursive := m.Child("recursiveReadOnly").ReportAt(list.Child("recursiveReadOnly")).OneOf("Disabled", "Enabled", "IfPossible")
		if mode := recursive.String(); mode == "Enabled" || mode == "IfPossible" {
			recursive.ForbidIf(!m.True("readOnly"), "may only be specified when readOnly is true")
			recursive.ForbidIf(propagation.String() != "" && propagation.String() != "None",
				"may only be specified when mountPropagation is None or not specified")
		}
		r.bindMountOptions(m)
	}
}

// bindMountOptions checks the mount options of a volume (gate VolumeBindMountOptions).
func (r *Rules) bindMountOptions(mount field.Cursor) {
	options, seen := mount.Child("bindMountOptions"), field.Seen{}
	for option := range options.Each() {
		option.OneOf("nodev", "noexec", "nosuid").Unique(seen)
	}
	if options.Len() > 0 && r.volumes[mount.String("name")].Has("image") {
		options.Invalid(options.Value(), "bindMountOptions may not be used with image volumes")
	}
}

// namesAndPaths returns the names and paths of a container's volume mounts or devices. If a volume is mounted more than
// once, only its last path is included.
func namesAndPaths(c object.Object, list, path string) (names, paths field.Seen) {
	names, paths = field.Seen{}, field.Seen{}
	for _, item := range slices.Backward(c.Objects(list)) {
		if name := item.String("name"); !names[name] {
			names[name], paths[item.String(path)] = true, true
		}
	}
	return names, paths
}

// volumeDevices checks the volumes that a container uses as raw block devices.
func (r *Rules) volumeDevices(c field.Cursor) {
	if c.Len("volumeDevices") == 0 {
		return
	}
	mounts, mountPaths := namesAndPaths(c.Object(), "volumeMounts", "mountPath")
	names, paths := field.Seen{}, field.Seen{}
	for d := range c.Each("volumeDevices") {
		name, path := d.Child("name").OrEmpty(), d.Child("devicePath").OrEmpty()
		name.Required()
		name.InvalidIf(names[name.String()], "must be unique")
		if v, ok := r.volumes[name.String()]; !ok {
			name.NotFound(name.Value())
		} else {
			name.InvalidIf(!v.Has("persistentVolumeClaim") && !v.Has("ephemeral"),
				"can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		path.Required()
		path.InvalidIf(paths[path.String()], "must be unique")
		if len(field.NoBacksteps(path.String())) > 0 {
			path.Invalid(path.Value(), "can not contain backsteps ('..')")
		} else {
			paths[path.String()] = true
		}
		name.InvalidIf(mounts[name.String()], "must not already exist in volumeMounts")
		path.InvalidIf(mountPaths[path.String()], "must not already exist as a path in volumeMounts")
		names[name.String()] = name.String() != ""
	}
}
