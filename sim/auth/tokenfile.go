package auth

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
)

// ReadTokens parses the file of kube-apiserver's --token-auth-file: a line per token, with the token, the name of its user, the
// user's uid and, optionally, the user's groups in quotes: token,user,uid,"group1,group2". As in kube-apiserver, the last line of a
// repeated token counts, and a line without a token is ignored: notes contain their line numbers
// (k8s.io/apiserver/pkg/authentication/token/tokenfile).
func ReadTokens(r io.Reader) (all []Token, notes []string, err error) {
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
		t := Token{Token: record[0], User: User{Name: record[1], UID: record[2]}}
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
