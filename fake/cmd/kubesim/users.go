package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/sim/auth"
)

// users holds the flags for the users of the server, in addition to those of kube-apiserver (shared).
type users struct {
	tokens         tokens // --token
	file           string // --token-auth-file
	kubeconfigUser string

	private bool         // omit the well-known tokens
	drawn   string       // the administrator's random token, if the server is private and no token was given
	listed  []auth.Token // the tokens in file
	notes   []string     // warnings about the file
}

// set adds the flags to a flag set. serveUsage describes them.
func (u *users) set(set *flag.FlagSet) {
	set.Var(&u.tokens, "token", "")
	set.StringVar(&u.file, "token-auth-file", "", "")
	set.StringVar(&u.kubeconfigUser, "kubeconfig-user", "", "")
}

// kubeconfig returns a kubeconfig for the user of --kubeconfig-user, or for token if the flag is not set.
func (u *users) kubeconfig(srv *fake.Server, l *fake.Listener, token string) ([]byte, error) {
	if u.kubeconfigUser == "" {
		return l.KubeConfig(cmp.Or(token, listen.UnreadToken)), nil
	}
	name, groups, _ := strings.Cut(u.kubeconfigUser, ":")
	cert, key, err := srv.IssueCertificate(name, strings.FieldsFunc(groups, func(r rune) bool { return r == ',' })...)
	if err != nil {
		return nil, err
	}
	return l.CertificateKubeConfig(cert, key), nil
}

// tokens is the value of --token.
type tokens []auth.Token

func (t *tokens) String() string { return "" }

// Set implements flag.Value. It adds TOKEN, for the administrator, or USER=TOKEN, and returns an error for any other form.
func (t *tokens) Set(text string) error {
	user, token, named := strings.Cut(text, "=")
	if !named && text != "" {
		*t = append(*t, administrator(text))
		return nil
	}
	if user == "" || token == "" {
		return errors.New("it must be TOKEN or USER=TOKEN")
	}
	*t = append(*t, auth.Token{Token: token, User: auth.User{Name: user}})
	return nil
}

// administrator returns a token for the administrator.
func administrator(token string) auth.Token {
	return auth.Token{Token: token, User: auth.User{Name: "admin", Groups: []string{"system:masters"}}}
}

// read reads the token file. It returns an error if the file contains no tokens.
func (u *users) read() error {
	if u.file == "" {
		return nil
	}
	f, err := os.Open(u.file)
	if err != nil {
		return err
	}
	defer f.Close()
	if u.listed, u.notes, err = auth.ReadTokens(f); err != nil {
		return fmt.Errorf("%s: %w", u.file, err)
	}
	if len(u.listed) == 0 {
		return fmt.Errorf("%s: the file contains no tokens", u.file)
	}
	return nil
}

// all returns the tokens of the flags. Without a token file, it adds auth.DefaultTokens, except for users and tokens that the
// command line specifies. A private server has no default tokens; if no token is specified, it gets a random token for the
// administrator.
func (u *users) all() []auth.Token {
	all := append([]auth.Token(nil), u.tokens...)
	if u.file != "" {
		return append(all, u.listed...)
	}
	if u.private {
		if len(all) == 0 && u.drawn == "" {
			u.drawn = strings.ToLower(rand.Text())
		}
		if u.drawn != "" {
			all = append(all, administrator(u.drawn))
		}
		return all
	}
	for _, d := range auth.DefaultTokens() {
		replaces := func(t auth.Token) bool { return t.User.Name == d.User.Name || t.Token == d.Token }
		if !slices.ContainsFunc(u.tokens, replaces) {
			all = append(all, d)
		}
	}
	return all
}

// first returns the token that is printed at startup, or "" if there is none.
func (u *users) first() string {
	if all := u.all(); len(all) > 0 {
		return all[0].Token
	}
	return ""
}

// given reports whether any of the flags is set.
func (u *users) given() bool {
	return len(u.tokens) > 0 || u.file != "" || u.kubeconfigUser != ""
}
