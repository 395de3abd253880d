// Package kubelet searches the pair of StatefulSet controller and kubelet for the bug kubernetes/kubernetes#59848: two pods of one name run
// at once (make operators). The kubelets are in node_test.go, because the packages of Kubernetes' kubelet need a machine. They read
// their pods with an informer of client-go, as the real one does. Kubesim's controllers and scheduler do the rest.
//
//	db.yaml ─▶ StatefulSet ─▶ kubesim's controllers ─▶ pod db-0 ─▶ kubelet-one, kubelet-two ─▶ containers ─▶ never two of one pod name
package kubelet
