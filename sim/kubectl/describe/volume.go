package describe

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// volumes writes the volumes of a pod.
func (d *describer) volumes(list []object.Object, space string) {
	if len(list) == 0 {
		d.line(0, "%sVolumes:\t<none>", space)
		return
	}
	d.line(0, "%sVolumes:", space)
	for _, v := range list {
		name := "  "
		if space != "" {
			name = " "
		}
		d.line(0, "%s%s%s:", space, name, v.String("name"))
		d.volumeSource(v)
	}
}

// volumeSources maps the types of volumes to their description and the fields that describe prints, each with its label and
// default.
var volumeSources = map[string]struct{ text, fields string }{
	"hostPath":              {"HostPath (bare host directory volume)", "Path:path HostPathType:type"},
	"emptyDir":              {"EmptyDir (a temporary directory that shares a pod's lifetime)", "Medium:medium SizeLimit:sizeLimit?unset"},
	"secret":                {"Secret (a volume populated by a Secret)", "SecretName:secretName Optional:optional?false"},
	"configMap":             {"ConfigMap (a volume populated by a ConfigMap)", "Name:name Optional:optional?false"},
	"persistentVolumeClaim": {"PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)", "ClaimName:claimName ReadOnly:readOnly?false"},
	"nfs":                   {"NFS (an NFS mount that lasts the lifetime of a pod)", "Server:server Path:path ReadOnly:readOnly?false"},
	"local":                 {"LocalVolume (a persistent volume backed by local storage on a node)", "Path:path"},
	"csi":                   {"CSI (a Container Storage Interface (CSI) volume source)", "Driver:driver FSType:fsType VolumeHandle:volumeHandle ReadOnly:readOnly?false"},
}

func (d *describer) volumeSource(v object.Object) {
	if p := v.At("projected"); p != nil {
		d.projected(p)
		return
	}
	for _, kind := range object.SortedKeys(v) {
		source, ok := volumeSources[kind]
		if !ok {
			continue
		}
		d.line(2, "Type:\t%s", source.text)
		for _, f := range strings.Fields(source.fields) {
			label, name, _ := strings.Cut(f, ":")
			name, otherwise, _ := strings.Cut(name, "?")
			if otherwise == "unset" {
				otherwise = "<unset>"
			}
			d.line(2, "%s:\t%s", label, valueOr(v.At(kind), otherwise, name))
		}
		return
	}
	d.line(2, "Type:\t<unknown>")
}

func (d *describer) projected(p object.Object) {
	d.line(2, "Type:\tProjected (a volume that contains injected data from multiple sources)")
	for _, s := range p.Objects("sources") {
		switch {
		case s.At("secret") != nil:
			d.line(2, "SecretName:\t%s", s.String("secret", "name"))
			d.line(2, "Optional:\t%t", s.True("secret", "optional"))
		case s.At("configMap") != nil:
			d.line(2, "ConfigMapName:\t%s", s.String("configMap", "name"))
			d.line(2, "Optional:\t%t", s.True("configMap", "optional"))
		case s.At("downwardAPI") != nil:
			d.line(2, "DownwardAPI:\ttrue")
		case s.At("serviceAccountToken") != nil:
			d.line(2, "TokenExpirationSeconds:\t%d", s.Int64("serviceAccountToken", "expirationSeconds"))
		}
	}
}

// modes returns access modes in their short form.
func modes(list []string) string {
	short := strings.NewReplacer("ReadWriteOncePod", "RWOP", "ReadWriteOnce", "RWO", "ReadOnlyMany", "ROX", "ReadWriteMany", "RWX")
	return short.Replace(strings.Join(list, ","))
}

func (d *describer) persistentVolume(obj object.Object) {
	spec := obj.At("spec")
	d.head(obj)
	d.line(0, "Finalizers:\t%v", obj.Finalizers())
	d.line(0, "StorageClass:\t%s", spec.String("storageClassName"))
	status := obj.String("status", "phase")
	if obj.DeletionTimestamp() != "" {
		status = "Terminating (lasts " + printer.Age(d.Now(), obj.DeletionTimestamp()) + ")"
	}
	d.line(0, "Status:\t%s", status)
	claim := ""
	if ref := spec.At("claimRef"); ref != nil {
		claim = ref.String("namespace") + "/" + ref.String("name")
	}
	d.line(0, "Claim:\t%s", claim)
	d.line(0, "Reclaim Policy:\t%s", spec.String("persistentVolumeReclaimPolicy"))
	d.line(0, "Access Modes:\t%s", modes(spec.Strings("accessModes")))
	d.line(0, "VolumeMode:\t%s", spec.String("volumeMode"))
	d.line(0, "Capacity:\t%s", valueOr(spec, "", "capacity", "storage"))
	d.nodeAffinity(spec.At("nodeAffinity"))
	d.line(0, "Message:\t%s", obj.String("status", "message"))
	d.line(0, "Source:")
	d.volumeSource(spec)
}

func (d *describer) nodeAffinity(affinity object.Object) {
	terms := affinity.Objects("required", "nodeSelectorTerms")
	if affinity == nil {
		d.line(0, "Node Affinity:\t<none>")
		return
	}
	d.line(0, "Node Affinity:\t")
	if len(terms) == 0 {
		d.line(1, "Required Terms:\t<none>")
		return
	}
	d.line(1, "Required Terms:\t")
	for i, term := range terms {
		for n, e := range term.Objects("matchExpressions") {
			label := fmt.Sprintf("Term %d:\t", i)
			if n > 0 {
				label = "\t"
			}
			values := strings.Join(e.Strings("values"), ", ")
			if values != "" {
				values = " [" + values + "]"
			}
			d.line(2, "%s%s %s%s", label, e.String("key"), strings.ToLower(e.String("operator")), values)
		}
	}
}

func (d *describer) claim(obj object.Object) {
	spec, status := obj.At("spec"), obj.At("status")
	d.line(0, "Name:\t%s\nNamespace:\t%s", obj.Name(), obj.Namespace())
	class := cmp.Or(spec.String("storageClassName"), obj.Annotations()["volume.beta.kubernetes.io/storage-class"])
	d.line(0, "StorageClass:\t%s", class)
	phase := status.String("phase")
	if obj.DeletionTimestamp() != "" {
		phase = "Terminating (lasts " + printer.Age(d.Now(), obj.DeletionTimestamp()) + ")"
	}
	d.line(0, "Status:\t%s", phase)
	d.line(0, "Volume:\t%s", spec.String("volumeName"))
	d.metadata(obj)
	d.line(0, "Finalizers:\t%v", obj.Finalizers())
	capacity, access := "", ""
	if spec.String("volumeName") != "" {
		capacity, access = valueOr(status, "", "capacity", "storage"), modes(status.Strings("accessModes"))
	}
	d.line(0, "Capacity:\t%s\nAccess Modes:\t%s\nVolumeMode:\t%s", capacity, access, spec.String("volumeMode"))
	pods := d.list("pods", obj.Namespace())
	var users []string
	for _, p := range pods {
		for _, v := range p.Objects("spec", "volumes") {
			if v.String("persistentVolumeClaim", "claimName") == obj.Name() {
				users = append(users, p.Name())
			}
		}
	}
	d.line(0, "Used By:\t%s", cmp.Or(strings.Join(users, "\n\t"), "<none>"))
}

func (d *describer) storageClass(obj object.Object) {
	isDefault := "No"
	if obj.Annotations()["storageclass.kubernetes.io/is-default-class"] == "true" {
		isDefault = "Yes"
	}
	d.line(0, "Name:\t%s\nIsDefaultClass:\t%s", obj.Name(), isDefault)
	d.line(0, "Annotations:\t%s", printer.Pairs(obj.Annotations(), "=", ","))
	d.line(0, "Provisioner:\t%s", obj.String("provisioner"))
	d.line(0, "Parameters:\t%s", printer.Pairs(object.StringMap(obj.Map("parameters")), "=", ","))
	expansion := "<unset>"
	if v, ok := obj.Bool("allowVolumeExpansion"); ok {
		expansion = strings.ToUpper(fmt.Sprint(v)[:1]) + fmt.Sprint(v)[1:]
	}
	d.line(0, "AllowVolumeExpansion:\t%s", expansion)
	options := obj.Strings("mountOptions")
	if len(options) == 0 {
		d.line(0, "MountOptions:\t<none>")
	} else {
		d.line(0, "MountOptions:\n  %s", strings.Join(options, "\n  "))
	}
	d.line(0, "ReclaimPolicy:\t%s\nVolumeBindingMode:\t%s", obj.String("reclaimPolicy"), obj.String("volumeBindingMode"))
}
