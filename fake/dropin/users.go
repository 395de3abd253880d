package dropin

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
)

// readTokens reads the tokens of users.
func (s *servers) readTokens() {
	if text := s.file("token-auth-file", "unable to load the tokens"); text != nil {
		var err error
		if s.options.Tokens, s.notes, err = auth.ReadTokens(bytes.NewReader(text)); err != nil {
			s.fails(fmt.Errorf("--token-auth-file %s: %w", s.last("token-auth-file"), err))
		}
	}
}

// readAuthorization reads the modes of authorization.
func (s *servers) readAuthorization() {
	s.options.Authorizers = []string{"AlwaysAllow"}
	if s.has("authorization-mode") {
		s.options.Authorizers = strings.Split(strings.Join(s.values["authorization-mode"], ","), ",")
	}
}
