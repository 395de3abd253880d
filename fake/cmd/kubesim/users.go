package main

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
)

// users holds the flags that determine the users of the server, in addition to those of kube-apiserver (shared).
type users struct {
	tokens         tokens // --token
	file           string // --token-auth-file
	kubeconfigUser string

	private bool         // omit the well-known tokens
	drawn   string       // the administrator's token of a private server that was given none
	listed  []auth.Token // in file
	notes   []string     // warnings about the file
}

// set adds the flags to a set. serveUsage describes them.
func (u *users) set(set *flag.FlagSet) {
	set.Var(&u.tokens, "token", "")
	set.StringVar(&u.file, "token-auth-file", "", "")
	set.StringVar(&u.kubeconfigUser, "kubeconfig-user", "", "")
}

// kubeconfig returns a kubeconfig for the user that the flags name, else for the holder of the first token.
func (u *users) kubeconfig(srv *fake.Server, l *fake.Listener, token string) ([]byte, error) {
	if u.kubeconfigUser == "" {
		return l.KubeConfig(token), nil
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

// Set adds TOKEN of an administrator or USER=TOKEN.
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

// administrator is a token of the administrator.
func administrator(token string) auth.Token {
	return auth.Token{Token: token, User: auth.User{Name: "admin", Groups: []string{"system:masters"}}}
}

// read reads the file of tokens.
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
		return fmt.Errorf("%s: there is no token in it", u.file)
	}
	return nil
}

// all returns the tokens of the flags. Without a file it adds auth.DefaultTokens; a token on the command line replaces the default token of
// the same user. A private server has no default tokens. If it was given none, it gets a random token for the administrator.
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

// first returns the token that is printed at the start, or "" if there is none.
func (u *users) first() string {
	if all := u.all(); len(all) > 0 {
		return all[0].Token
	}
	return ""
}

// given reports whether one of the flags was given.
func (u *users) given() bool {
	return len(u.tokens) > 0 || u.file != "" || u.kubeconfigUser != ""
}
