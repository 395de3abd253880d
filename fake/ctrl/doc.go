// Package ctrl runs managers of controller-runtime in tests against kubesim, and makes clients for them.
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
//		m := ctrl.Start(t, srv, operator.Setup, ctrl.Options{Scheme: operator.Scheme()})
//		c := ctrl.Client(t, srv, operator.Scheme(), &v1.Site{…})
//		…
//		m.Crash() // in the middle of what it does
//		m.Restart()
//	})
//
//	test ─ Client ─▶ srv ◀── watches, writes ── manager ◀─ Setup
//	                  └── AdmissionReview, ConversionReview ─▶ its webhooks, without a socket
//
// It is a separate module, so that only its users require controller-runtime, in v0.24 or later. Its version is that of the kubesim
// that it belongs to.
package ctrl
