package boot

import "github.com/kubesim/kubesim/sim/object"

// classes are the default StorageClass and the default IngressClass as JSON. The controllers volume.Provisioner and
// network.Ingresses implement them.
var classes = []string{
	`{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"standard",` +
		`"annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},` +
		`"provisioner":"csi.kubesim.io","allowVolumeExpansion":true,"volumeBindingMode":"WaitForFirstConsumer"}`,
	`{"kind":"IngressClass","apiVersion":"networking.k8s.io/v1","metadata":{"name":"kubesim",` +
		`"annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}},"spec":{"controller":"kubesim.io/ingress"}}`,
}

// Classes returns a default StorageClass and a default IngressClass. API servers do not create them: installers of clusters do, such
// as kind and minikube.
func Classes() []object.Object {
	var all []object.Object
	for _, text := range classes {
		all = append(all, must(object.Parse([]byte(text))))
	}
	return all
}
