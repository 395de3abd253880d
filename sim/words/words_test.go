package words

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// plain are rules without signs and without escapes outside of quotes, like those for lines of scenarios.
var plain = Rules{Escapes: `"\`}

// texts returns the texts of words, with signs in brackets.
func texts(list []Word) string {
	var out []string
	for _, w := range list {
		text := w.Text
		if w.Sign {
			text = "[" + text + "]"
		}
		out = append(out, text)
	}
	return strings.Join(out, "·")
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{ // order does not matter
		`get  pods # all`:            {"get·pods", "get·pods"},
		`a|b&&c 2>&1`:                {"a·[|]·b·[&&]·c·[2>&1]", "a|b&&c·2>&1"},
		`echo 'a b'"c d" e#f`:        {"echo·a bc d·e#f", "echo·a bc d·e#f"},
		`p "{\"a\":\"\$\n\"}" \'x\\`: {`p·{"a":"$\n"}·'x\`, ""},
		`.a\.b "\$"`:                 {`.a.b·$`, `.a\.b·\$`},
		`cat <<-E >>f`:               {"cat·[<<-]·E·[>>]·f", "cat·<<-E·>>f"},
		`''`:                         {"", ""},
	} {
		is := is.New(t)
		got, err := Shell.Split(line)
		is.NoErr(err)
		is.Equal(texts(got), want[0]) // at a prompt
		if got, err = plain.Split(line); err == nil {
			is.Equal(texts(got), want[1]) // with other rules
		}
	}
	is := is.New(t)
	got, err := Shell.Split(`a "b`)
	is.Equal(err, &UnclosedError{At: 2, Quote: '"'}) // where the quote is
	is.Equal(texts(got), "a")                        // the words before it
}

// FuzzSplit checks, for any line, that words are in order and cover everything except spaces and the comment, and that Split
// returns a quoted text unchanged.
func FuzzSplit(f *testing.F) {
	for _, line := range []string{"kubectl get po | grep 'a b' >x", `cat <<-E; echo "\$a" \# # b`, `patch cm a -p "{\"k\":\"it's\"}"`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, r := range []Rules{Shell, plain} {
			at := 0
			list, _ := r.Split(line)
			for _, w := range list {
				if w.From < at || w.To <= w.From || w.To > len(line) || strings.Trim(line[at:w.From], " \t") != "" {
					t.Fatalf("%q: %+v begins at %d, and the word before it ends at %d", line, w, w.From, at)
				}
				at = w.To
			}
			got, err := r.Split(r.Quote(line, false))
			if err != nil || len(got) != 1 || got[0].Text != line || got[0].Sign {
				t.Fatalf("%q is quoted as %s, which is split into %v, %v", line, r.Quote(line, false), got, err)
			}
		}
	})
}
