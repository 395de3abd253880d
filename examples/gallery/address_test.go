package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var address = exhibit{
	name:    "address",
	seen:    "metallb/metallb#1774",
	mistake: "addresses in use are remembered in memory, which is incomplete after a restart",
	pattern: "reservation: an object whose name is the resource that can be allocated only once",
	server:  fake.Options{Bare: true},
	test:    testAddress,
}

// lb assigns each service, a ConfigMap, an address from a small pool. It remembers the addresses that it has seen in use, but after
// a restart it remembers none. A waiting service that comes first in the alphabet is then reconciled first, and gets an address
// that is in use.
//
// See metallb/metallb#1774, and projectcalico/calico#12567.
//
// The correct version reserves an address by creating an object with that name, which the server allows only once.
type lb struct {
	client.Client
	live    client.Reader
	correct bool
	used    map[string]string // services by address
}

var pool = []string{"192.168.0.1", "192.168.0.2"}

func (l *lb) Reconcile(ctx context.Context, service *corev1.ConfigMap) (reconcile.Result, error) {
	if ip := service.Data["ip"]; ip != "" {
		l.used[ip] = service.Name
		return done, nil
	}
	for _, ip := range pool {
		free, err := l.take(ctx, service, ip)
		if err != nil {
			return done, err
		}
		if free {
			service.Data = map[string]string{"ip": ip}
			return done, l.Update(ctx, service)
		}
	}
	return reconcile.Result{RequeueAfter: time.Minute}, nil // no free address
}

// take reports whether a service may have an address.
func (l *lb) take(ctx context.Context, service *corev1.ConfigMap, ip string) (bool, error) {
	if !l.correct {
		if by := l.used[ip]; by != "" && by != service.Name {
			return false, nil
		}
		l.used[ip] = service.Name
		return true, nil
	}
	reservation := secret(named(ip))
	if err := controllerutil.SetControllerReference(service, reservation, l.Scheme()); err != nil {
		return false, err
	}
	err := l.Create(ctx, reservation)
	if apierrors.IsAlreadyExists(err) { // perhaps its own: it may not have received the response to its create
		err = l.live.Get(ctx, client.ObjectKeyFromObject(reservation), reservation)
	}
	return metav1.IsControlledBy(reservation, service) && err == nil, err
}

func testAddress(w *world) {
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &lb{m.GetClient(), m.GetAPIReader(), w.correct, map[string]string{}}
	})
	for _, name := range []string{"z", "y", "a"} {
		w.cluster(name)
		w.pass(time.Second)
	}
	w.pass(trouble)
	w.settle()
	services, by := &corev1.ConfigMapList{}, map[string]string{}
	w.must(w.List(w.Context(), services, client.InNamespace("default")))
	for _, s := range services.Items {
		ip := s.Data["ip"]
		if by[ip] != "" {
			w.Errorf("%s and %s have the address %q", by[ip], s.Name, ip)
		}
		by[ip] = s.Name
	}
}
