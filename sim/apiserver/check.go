package apiserver

import "github.com/kubesim/kubesim/sim/wire"

// Check authenticates and authorizes a request. It returns the answer if the request is refused, and otherwise nil. It does nothing
// else: it is for requests to paths outside the API, which RBAC's nonResourceURLs govern.
func (s *Server) Check(q *Request) (refused *Answer) {
	s.Lock.Lock()
	defer s.Lock.Unlock()
	e, ok := s.exchange(q, func(a *Answer) { refused = a })
	if !ok {
		return &Answer{Code: wire.StatusBadRequest, Header: wire.Header{}}
	}
	if wrong := e.authenticate(); wrong != nil {
		e.fail(wrong)
	} else if wrong := e.authorize(); wrong != nil {
		e.fail(wrong)
	}
	return refused
}

// AuditID returns the id of a request that the server does not see: the one that its client gives, or a new one.
func (s *Server) AuditID(given string) string {
	if given != "" {
		return given
	}
	s.Lock.Lock()
	defer s.Lock.Unlock()
	return s.Registry.NewAuditID()
}
