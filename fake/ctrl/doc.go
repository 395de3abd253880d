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
// It is a module of its own, with the version of kubesim that it belongs to: only who uses it requires controller-runtime, of
// v0.24 or later.
package ctrl
