package podspec

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// volumeMounts checks where the volumes appear in a container. Some errors are at the list: the server leaves out the
// index there.
func (r *Rules) volumeMounts(c object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	devices := pathsByName(c, "volumeDevices", "devicePath")
	var taken []string
	for i, m := range c.Objects("volumeMounts") {
		at, name, path := p.Index(i), m.String("name"), m.String("mountPath")
		errs = append(errs, field.MustBeSet(at.Child("name"), name)...)
		if _, ok := r.volumes[name]; !ok {
			errs = append(errs, field.NotFound(at.Child("name"), name))
		}
		errs = append(errs, field.MustBeSet(at.Child("mountPath"), path)...)
		if slices.Contains(taken, path) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), path, "must be unique"))
		}
		taken = append(taken, path)
		if _, ok := devices[name]; ok {
			errs = append(errs, field.Invalid(at.Child("name"), name, "must not already exist in volumeDevices"))
		}
		if hasPath(devices, path) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), path, "must not already exist as a path in volumeDevices"))
		}
		errs = append(errs, subPaths(m, p, at)...)
		errs = append(errs, mountPropagation(m, c, p.Child("mountPropagation"))...)
		errs = append(errs, recursiveReadOnly(m, p.Child("recursiveReadOnly"))...)
	}
	return errs
}

// pathsByName returns the paths of a container's mounts or devices by the names of their volumes.
func pathsByName(c object.Object, list, path string) map[string]string {
	paths := map[string]string{}
	for _, o := range c.Objects(list) {
		paths[o.String("name")] = o.String(path)
	}
	return paths
}

func hasPath(paths map[string]string, path string) bool {
	for _, other := range paths { // order does not matter
		if other == path {
			return true
		}
	}
	return false
}

func subPaths(m object.Object, list, p field.Path) field.ErrorList {
	var errs field.ErrorList
	sub, expr := m.String("subPath"), m.String("subPathExpr")
	if sub != "" {
		errs = append(errs, field.Check(list.Child("subPath"), sub, field.DescendingPath)...)
	}
	if expr == "" {
		return errs
	}
	if sub != "" {
		errs = append(errs, field.Invalid(p.Child("subPathExpr"), expr, "subPathExpr and subPath are mutually exclusive"))
	}
	return append(errs, field.Check(list.Child("subPathExpr"), expr, field.DescendingPath)...)
}

func mountPropagation(m, c object.Object, p field.Path) field.ErrorList {
	if !m.Has("mountPropagation") {
		return nil
	}
	mode := m.String("mountPropagation")
	errs := field.MustBeOneOf(p, mode, "Bidirectional", "HostToContainer", "None")
	if mode == "Bidirectional" && !c.True("securityContext", "privileged") {
		errs = append(errs, field.Forbidden(p, "Bidirectional mount propagation is available only to privileged containers"))
	}
	return errs
}

func recursiveReadOnly(m object.Object, p field.Path) field.ErrorList {
	if !m.Has("recursiveReadOnly") {
		return nil
	}
	mode := m.String("recursiveReadOnly")
	if mode != "Enabled" && mode != "IfPossible" {
		return field.MustBeOneOf(p, mode, "Disabled", "Enabled", "IfPossible")
	}
	var errs field.ErrorList
	if !m.True("readOnly") {
		errs = append(errs, field.Forbidden(p, "may only be specified when readOnly is true"))
	}
	if propagation := m.String("mountPropagation"); propagation != "" && propagation != "None" {
		errs = append(errs, field.Forbidden(p, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

// volumeDevices checks the volumes that a container uses as raw block devices.
func (r *Rules) volumeDevices(c object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	mounts := pathsByName(c, "volumeMounts", "mountPath")
	var names, paths []string
	for i, d := range c.Objects("volumeDevices") {
		name, path := d.String("name"), d.String("devicePath")
		atName, atPath := p.Index(i).Child("name"), p.Index(i).Child("devicePath")
		errs = append(errs, field.MustBeSet(atName, name)...)
		if slices.Contains(names, name) {
			errs = append(errs, field.Invalid(atName, name, "must be unique"))
		}
		if v, ok := r.volumes[name]; !ok {
			errs = append(errs, field.NotFound(atName, name))
		} else if !v.Has("persistentVolumeClaim") && !v.Has("ephemeral") {
			errs = append(errs, field.Invalid(atName, name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		errs = append(errs, field.MustBeSet(atPath, path)...)
		if slices.Contains(paths, path) {
			errs = append(errs, field.Invalid(atPath, path, "must be unique"))
		}
		if len(field.NoBacksteps(path)) > 0 {
			errs = append(errs, field.Invalid(atPath, path, "can not contain backsteps ('..')"))
		} else {
			paths = append(paths, path)
		}
		if _, ok := mounts[name]; ok {
			errs = append(errs, field.Invalid(atName, name, "must not already exist in volumeMounts"))
		}
		if hasPath(mounts, path) {
			errs = append(errs, field.Invalid(atPath, path, "must not already exist as a path in volumeMounts"))
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return errs
}
