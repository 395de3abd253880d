package apiserver

import "github.com/kubesim/kubesim/sim/wire"

// Check authenticates and authorizes a request. It returns the response if the request is rejected, and nil otherwise. It is for
// requests to paths outside the API, for which RBAC has nonResourceURLs. Check acquires the lock.
func (s *Server) Check(q *Request) (refused *Answer) {
	s.Lock.Lock()
	defer s.Lock.Unlock()
	e, ok := s.exchange(q, func(a *Answer) { refused = a })
	if !ok {
		return &Answer{Code: wire.StatusBadRequest, Header: wire.Header{}}
	}
	if wrong := e.authenticate(); wrong != nil {
		e.fail(wrong)
	} else {
		e.authorize()
	}
	return refused
}

// AuditID returns the audit ID of a request that the server does not handle: given, or a new one if given is empty.
func (s *Server) AuditID(given string) string {
	if given != "" {
		return given
	}
	s.Lock.Lock()
	defer s.Lock.Unlock()
	return s.Registry.NewAuditID()
}
