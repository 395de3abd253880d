// Package ctrl runs controller-runtime managers in tests against kubesim, and creates clients for them.
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
//		m := ctrl.Start(t, srv, operator.Setup, ctrl.Options{Scheme: operator.Scheme()})
//		c := ctrl.Client(t, srv, operator.Scheme(), &v1.Site{…})
//		…
//		m.Crash() // at an arbitrary point
//		m.Restart()
//	})
//
//	test ─ Client ─▶ srv ◀── watches, writes ── manager ◀─ Setup
//	                  └── AdmissionReview, ConversionReview ─▶ its webhooks, without a socket
//
// It is a separate module, so that only its users depend on controller-runtime, v0.19 or later. Its version is that of the kubesim
// to which it belongs.
package ctrl
