package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/resource"
)

// users are the flags that say who may speak to the server: with --auth rbac alone they decide something.
type users struct {
	tokens   tokens // --token
	file     string // --token-auth-file
	clientCA string // --client-ca-file

	listed []auth.Token // in file
	notes  []string     // what is odd about it
}

// tokens is the value of --token.
type tokens []auth.Token

func (t *tokens) String() string { return "" }

// Set adds TOKEN of an administrator or USER=TOKEN.
func (t *tokens) Set(text string) error {
	user, token, named := strings.Cut(text, "=")
	if !named && text != "" {
		*t = append(*t, auth.Token{Token: text, User: resource.User{Name: "admin", Groups: []string{"system:masters"}}})
		return nil
	}
	if user == "" || token == "" {
		return errors.New("say TOKEN or USER=TOKEN")
	}
	*t = append(*t, auth.Token{Token: token, User: resource.User{Name: user}})
	return nil
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
	if u.listed, u.notes, err = readTokens(f); err != nil {
		return fmt.Errorf("%s: %w", u.file, err)
	}
	if len(u.listed) == 0 {
		return fmt.Errorf("%s: there is no token in it", u.file)
	}
	return nil
}

// all are the tokens of the flags. Without a file those of auth.DefaultTokens are added that are not given: a token on the
// command line replaces that of the same user.
func (u *users) all() []auth.Token {
	all := append([]auth.Token(nil), u.tokens...)
	if u.file != "" {
		return append(all, u.listed...)
	}
	for _, d := range auth.DefaultTokens() {
		given := false
		for _, t := range u.tokens {
			given = given || t.User.Name == d.User.Name || t.Token == d.Token
		}
		if !given {
			all = append(all, d)
		}
	}
	return all
}

// first is the token that is shown to whoever starts the server, "" if there is none.
func (u *users) first() string {
	if all := u.all(); len(all) > 0 {
		return all[0].Token
	}
	return ""
}

// given says that one of the flags was.
func (u *users) given() bool { return len(u.tokens) > 0 || u.file != "" || u.clientCA != "" }

// readTokens reads what kube-apiserver reads from its --token-auth-file: a line per token, with the token, the name of its
// user, his uid and, if he has any, his groups in quotes: token,user,uid,"group1,group2". As there, a token that is listed
// twice is the later user's, and a line without one counts for nothing: notes say where
// (k8s.io/apiserver/pkg/authentication/token/tokenfile).
func readTokens(r io.Reader) (all []auth.Token, notes []string, err error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	index := map[string]int{}
	for {
		record, err := in.Read()
		if err == io.EOF {
			return all, notes, nil
		}
		if err != nil {
			return nil, nil, err // it names the line
		}
		line, _ := in.FieldPos(0)
		if len(record) < 3 {
			return nil, nil, fmt.Errorf("line %d: a token, the name of its user and his uid are needed, with commas between them: there are %d fields", line, len(record))
		}
		t := auth.Token{Token: record[0], User: resource.User{Name: record[1], UID: record[2]}}
		if len(record) > 3 && record[3] != "" {
			t.User.Groups = strings.Split(record[3], ",")
		}
		before, twice := index[t.Token]
		switch {
		case t.Token == "":
			notes = append(notes, fmt.Sprintf("line %d has no token", line))
		case twice:
			notes = append(notes, fmt.Sprintf("line %d has a token that an earlier line has: it is now %s's", line, t.User.Name))
			all[before] = t
		default:
			index[t.Token] = len(all)
			all = append(all, t)
		}
	}
}
