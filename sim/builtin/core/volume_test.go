package core

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

const claimText = `{'metadata':{'name':'x'},'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'c','resources':{'requests':{'storage':'2Gi'}}}}`

func TestPersistentVolume(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "persistentvolumes")
	obj, errs := r.Create(`{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'}}}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "spec"), `{'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'},'hostPath':{'path':'/x','type':''},'persistentVolumeReclaimPolicy':'Retain','volumeMode':'Filesystem'}`)
	is.Equal(kindtest.Part(obj, "status"), `{'lastPhaseTransitionTime':'2026-01-02T03:04:05Z','phase':'Pending'}`)
	_, errs = r.Update(obj, `{'spec':{'hostPath':{'path':'/y'},'volumeMode':'Block'}}`, "")
	is.Equal(errs, "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n"+
		"@@ -2,7 +2,7 @@\n  \"GCEPersistentDisk\": null,\n  \"AWSElasticBlockStore\": null,\n  \"HostPath\": {\n-  \"Path\": \"/x\",\n+  \"Path\": \"/y\",\n"+
		"   \"Type\": \"\"\n  },\n  \"Glusterfs\": null,\n\nvolumeMode: Invalid value: \"Block\": field is immutable")
	r.Ctx.Now = r.Ctx.Now.AddDate(0, 0, 1)
	changed, errs := r.Update(obj, `{'status':{'phase':'Bound'}}`, "status")
	is.Equal(errs, "")
	is.Equal(changed.String("status", "lastPhaseTransitionTime"), "2026-01-03T03:04:05Z") // the time when it was bound
}

func TestPersistentVolumeErrors(t *testing.T) {
	is := is.New(t)
	const fine = `'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],`
	for spec, want := range map[string]string{
		`{}`: "spec.accessModes: Required value\nspec.capacity: Required value\n" +
			`spec.capacity: Unsupported value: null: supported values: "storage"` + "\nspec: Required value: must specify a volume type",
		`{` + fine + `'persistentVolumeReclaimPolicy':'Burn','hostPath':{'path':'/a/../b'},'nfs':{'server':'s','path':'/p'}}`: `spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"` + "\n" +
			`spec.hostPath.path: Invalid value: "/a/../b": must not contain '..'` + "\nspec.nfs: Forbidden: may not specify more than 1 volume type",
		`{` + fine + `'local':{'path':'/x'}}`: "spec.nodeAffinity: Required value: Local volume requires node affinity",
		`{` + fine + `'csi':{'driver':'A_','volumeHandle':'','nodePublishSecretRef':{}}}`: `spec.csi.driver: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')` + "\n" +
			"spec.csi.volumeHandle: Required value\nspec.csi.nodePublishSecretRef.name: Required value\nspec.csi.nodePublishSecretRef.namespace: Required value",
		`{` + fine + `'hostPath':{'path':'/'},'persistentVolumeReclaimPolicy':'Recycle'}`: "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
		`{` + fine + `'hostPath':{'path':'/a'},'volumeAttributesClassName':''}`: "spec.volumeAttributesClassName: Required value: an empty string is disallowed\n" +
			"spec.csi: Required value: has to be specified when using volumeAttributesClassName",
		`{'capacity':{'storage':'-1'},'accessModes':['ReadWriteOncePod','ReadOnlyMany'],'hostPath':{'path':'/a'}}`: "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes\n" +
			"spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity\nspec.capacity[storage]: Invalid value: \"-1\": must be greater than zero",
	} {
		_, errs := kindtest.New(t, served, "persistentvolumes").Create(`{'metadata':{'name':'v'},'spec':` + spec + `}`)
		is.Equal(errs, want) // same errors as the real server
	}
	r := kindtest.New(t, served, "persistentvolumes")
	r.Create(`{'spec':{` + fine + `'rbd':{'monitors':['m'],'image':'i'},'persistentVolumeReclaimPolicy':'Recycle'}}`)
	is.Equal(len(r.Warnings), 2) // the policy and the driver are deprecated
}

func TestPersistentVolumeClaim(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "persistentvolumeclaims")
	obj, errs := r.Create(claimText)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "status"), `{'phase':'Pending'}`)
	_, errs = r.Update(obj, `{'spec':{'storageClassName':'d'}}`, "")
	is.Equal(errs, "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+
		"@@ -10,7 +10,7 @@\n   }\n  },\n  \"VolumeName\": \"\",\n- \"StorageClassName\": \"c\",\n+ \"StorageClassName\": \"d\",\n"+
		"  \"VolumeMode\": \"Filesystem\",\n  \"DataSource\": null,\n  \"DataSourceRef\": null,\n")
	_, errs = r.Update(obj, `{'spec':{'resources':{'requests':{'storage':'3Gi'}}}}`, "")
	is.True(strings.HasPrefix(errs, "spec: Forbidden: spec is immutable")) // it can grow only when it is bound
	bound, errs := r.Update(obj, `{'spec':{'volumeName':'v'}}`, "")
	is.Equal(errs, "") // only once
	bound, errs = r.Update(bound, `{'status':{'phase':'Bound','capacity':{'storage':'2Gi'},'accessModes':['ReadWriteOnce','ReadOnlyMany']}}`, "status")
	is.Equal(errs, "")
	_, errs = r.Update(bound, `{'spec':{'resources':{'requests':{'storage':'3Gi'}},'volumeAttributesClassName':'a'}}`, "")
	is.Equal(errs, "")
	_, errs = r.Update(bound, `{'spec':{'resources':{'requests':{'storage':'1Gi'}}}}`, "")
	is.Equal(errs, "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity")
	is.Equal(r.Kind.Row(r.Ctx.Now, bound).Cells, []any{"x", "Bound", "v", "2Gi", "RWO,ROX", "c", "<unset>", "<unknown>", "Filesystem"})
}

func TestPersistentVolumeClaimErrors(t *testing.T) {
	is := is.New(t)
	for spec, want := range map[string]string{
		`{}`: "spec.accessModes: Required value: at least 1 access mode is required\nspec.resources[storage]: Required value",
		`{'accessModes':['ReadTwice'],'volumeMode':'Tape','resources':{'requests':{'storage':'0'}}}`: `spec.accessModes: Unsupported value: "ReadTwice": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"` + "\n" +
			`spec.resources[storage]: Invalid value: "0": must be greater than zero` + "\n" + `spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"`,
		`{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1'}},'dataSourceRef':{'kind':'Odd','name':''}}`: "spec.dataSource.name: Required value\n" +
			`spec.dataSource: Invalid value: "Odd": must be 'PersistentVolumeClaim' when referencing the default apiGroup` + "\nspec.dataSourceRef.name: Required value\n" +
			`spec.dataSourceRef: Invalid value: "Odd": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
	} {
		_, errs := kindtest.New(t, served, "persistentvolumeclaims").Create(`{'spec':` + spec + `}`)
		is.Equal(errs, want) // same errors as the real server
	}
}

func TestDataSources(t *testing.T) {
	is := is.New(t)
	for spec, want := range map[string]string{
		`{'dataSource':{'kind':'PersistentVolumeClaim','name':'x'}}`:                    `{'kind':'PersistentVolumeClaim','name':'x'}`,
		`{'dataSource':{'kind':'Odd','apiGroup':'a.b','name':'x'}}`:                     `null`,
		`{'dataSourceRef':{'kind':'Odd','apiGroup':'a.b','name':'x'}}`:                  `{'apiGroup':'a.b','kind':'Odd','name':'x'}`,
		`{'dataSourceRef':{'kind':'PersistentVolumeClaim','name':'x','namespace':'y'}}`: `null`,
	} {
		obj, _ := kindtest.New(t, served, "persistentvolumeclaims").Create(`{'spec':` + spec + `}`)
		is.Equal(kindtest.Part(obj, "spec", "dataSource"), want)    // both fields
		is.Equal(kindtest.Part(obj, "spec", "dataSourceRef"), want) // both are equal
	}
}

// TestWithoutVolumeAttributesClass checks that class names are dropped, unless they are already stored, without the gate
// VolumeAttributesClass, which an emulated 1.35 can disable.
func TestWithoutVolumeAttributesClass(t *testing.T) {
	is := is.New(t)
	without := kindtest.On("1.35", map[string]bool{"VolumeAttributesClass": false}, Kinds)
	const named = `'volumeAttributesClassName':'gold'`
	claim := strings.Replace(claimText, `'storageClassName'`, named+`,'storageClassName'`, 1)
	volume := `{'metadata':{'name':'v'},'spec':{` + named + `,'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'csi':{'driver':'d','volumeHandle':'h'}}}`
	for storage, text := range map[string]string{"persistentvolumeclaims": claim, "persistentvolumes": volume} {
		obj, errs := kindtest.New(t, without.Kinds, storage).Create(text)
		is.Equal(errs, "")
		is.True(!obj.Has("spec", "volumeAttributesClassName"))
		obj, errs = kindtest.New(t, served, storage).Create(text)
		is.Equal(errs, "")
		kept, errs := kindtest.New(t, without.Kinds, storage).Update(obj, `{'metadata':{'labels':{'a':'b'}}}`, "")
		is.Equal(errs, "")
		is.Equal(kept.String("spec", "volumeAttributesClassName"), "gold")
	}
	claims := kindtest.New(t, without.Kinds, "persistentvolumeclaims")
	obj, _ := claims.Create(claimText)
	changed, errs := claims.Update(obj, `{'status':{'phase':'Bound','currentVolumeAttributesClassName':'gold','modifyVolumeStatus':{'status':'Pending'}}}`, "status")
	is.Equal(errs, "")
	is.True(!changed.Has("status", "currentVolumeAttributesClassName") && !changed.Has("status", "modifyVolumeStatus"))
}
