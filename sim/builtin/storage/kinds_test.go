package storage

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestStorageClass(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "storageclasses.storage.k8s.io")
	obj, errs := r.Create(`{'provisioner':'x.io/p','parameters':{'a':'b'}}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj), `{'parameters':{'a':'b'},'provisioner':'x.io/p','reclaimPolicy':'Delete','volumeBindingMode':'Immediate'}`)
	_, errs = r.Update(obj, `{'provisioner':'y.io/p','parameters':{'a':'c'},'reclaimPolicy':'Retain','volumeBindingMode':'WaitForFirstConsumer'}`, "")
	is.Equal(errs, `parameters: Invalid value: {"a":"c"}: field is immutable`+"\n"+`provisioner: Invalid value: "y.io/p": field is immutable`+"\n"+
		`reclaimPolicy: Invalid value: "Retain": field is immutable`+"\n"+`volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable`)
	_, errs = r.Create(`{'reclaimPolicy':'Recycle','allowedTopologies':[{'matchLabelExpressions':[{'key':'beta.kubernetes.io/os','values':['a','a']},{'key':'a'}]}]}`)
	is.Equal(errs, "provisioner: Required value\n"+`reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"`+"\n"+
		`allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"`+"\nallowedTopologies[0].matchLabelExpressions[1].values: Required value")
	is.Equal(len(r.Warnings), 1) // the label is deprecated
	_, errs = r.Create(`{'provisioner':'x.io/p','allowedTopologies':[{'matchLabelExpressions':[{'key':'a','values':['x']}]},` +
		`{'matchLabelExpressions':[{'key':'b','values':['']}]},{'matchLabelExpressions':[{'key':'a','values':['x']}]}]}`)
	is.Equal(errs, `allowedTopologies[2].matchLabelExpressions: Duplicate value: ""`) // another key is another term
}

func TestVolumeAttributesClass(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "volumeattributesclasses.storage.k8s.io")
	_, errs := r.Create(`{'driverName':'x.io'}`)
	is.Equal(errs, "parameters: Required value: must contain at least one key/value pair")
	obj, _ := r.Create(`{'driverName':'x.io','parameters':{'a':'b'}}`)
	_, errs = r.Update(obj, `{'driverName':'y.io','parameters':{'a':'c'}}`, "")
	is.Equal(errs, "driverName: Forbidden: updates to driverName are forbidden.\nparameters: Forbidden: updates to parameters are forbidden.")
}

func TestCSIDriver(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "csidrivers.storage.k8s.io")
	obj, errs := r.Create(`{'spec':{'preventPodSchedulingIfMissing':true}}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "spec"), `{'attachRequired':true,'fsGroupPolicy':'ReadWriteOnceWithFSType','podInfoOnMount':false,'requiresRepublish':false,'seLinuxMount':false,'storageCapacity':false,'volumeLifecycleModes':['Persistent']}`)
	changed, errs := r.Update(obj, `{'spec':{'attachRequired':false,'tokenRequests':[{'audience':'a','expirationSeconds':1},{'audience':'a'}]}}`, "")
	is.Equal(errs, "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes\n"+
		"spec.tokenRequests[1].audience: Duplicate value: \"a\"\nspec.attachedRequired: Invalid value: false: field is immutable")
	is.Equal(changed.Generation(), int64(1)) // the first change sets 1
	is.Equal(len(r.Warnings), 1)             // tokens are better kept in secrets
}

func TestCSINode(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "csinodes.storage.k8s.io")
	obj, errs := r.Create(`{'spec':{'drivers':[{'name':'d','nodeID':'n','topologyKeys':['a']}]}}`)
	is.Equal(errs, "")
	_, errs = r.Update(obj, `{'spec':{'drivers':[{'name':'d','nodeID':'m','topologyKeys':['a'],'allocatable':{'count':3}}]}}`, "")
	is.Equal(errs, `spec.drivers: Invalid value: {"Name":"d","NodeID":"m","TopologyKeys":["a"],"Allocatable":null}: field is immutable`)
	_, errs = r.Update(obj, `{'spec':{'drivers':[{'name':'d','nodeID':'n','topologyKeys':['a'],'allocatable':{'count':3}}]}}`, "")
	is.Equal(errs, "") // the count may change
}

func TestCSIStorageCapacityAndVolumeAttachment(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "csistoragecapacities.storage.k8s.io")
	obj, errs := r.Create(`{'storageClassName':'c','capacity':'-1'}`)
	is.Equal(errs, `capacity: Invalid value: "-1": must be greater than or equal to 0`)
	_, errs = r.Update(obj, `{'storageClassName':'d','capacity':'1','nodeTopology':{'matchLabels':{'a':'b'}}}`, "")
	is.Equal(errs, `nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable`+"\n"+`storageClassName: Invalid value: "d": field is immutable`)
	r = kindtest.New(t, served, "volumeattachments.storage.k8s.io")
	obj, errs = r.Create(`{'spec':{'attacher':'a.io','nodeName':'n','source':{'persistentVolumeName':'v'}}}`)
	is.Equal(errs, "")
	_, errs = r.Update(obj, `{'spec':{'nodeName':'m'}}`, "")
	is.Equal(errs, `spec: Invalid value: {"Attacher":"a.io","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable`)
	_, errs = r.Create(`{'spec':{'attacher':'a.io','nodeName':'n'}}`)
	is.Equal(errs, "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName")
}
