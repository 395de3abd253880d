package lesson

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/matryer/is"
)

// languages are the languages into which every lesson is translated.
var languages = []string{"zh-CN"}

func translate(t *testing.T, l *Lesson, language string) *Lesson {
	t.Helper()
	words, err := os.ReadFile(filepath.Join("data", l.ID, "lesson."+language+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Translate(l, words)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTranslations checks that every lesson has all texts in all languages, with the same values, commands and codes.
func TestTranslations(t *testing.T) {
	t.Parallel()
	for _, l := range mustAll(t) {
		for _, language := range languages {
			theirs := texts(translate(t, l, language), l)
			for where, english := range texts(l, l) {
				if err := sameWords(english, theirs[where]); err != nil {
					t.Errorf("%s: %s: %s: %v\n%s\n%s", language, l.ID, where, err, english, theirs[where])
				}
			}
		}
	}
}

// TestTranslatedLessons checks that a translated lesson runs like any other, and that its texts can be filled.
func TestTranslatedLessons(t *testing.T) {
	eachLesson(t, func(t *testing.T, l *Lesson) {
		for _, language := range languages {
			steps, stuck := Rehearse(translate(t, l, language))
			if stuck != nil {
				t.Fatalf("%s: step %d: %s", language, stuck.Step, stuck.Why)
			}
			for _, s := range steps {
				if strings.Contains(s.Text, gone) && !strings.Contains(texts(l, l)[s.ID+" text"], gone) {
					t.Errorf("%s: %s: a value cannot be told: %s", language, s.ID, s.Text)
				}
			}
		}
	})
}

// texts returns all texts of a lesson by location. It omits hints that are command lines.
func texts(l, english *Lesson) map[string]string {
	out := map[string]string{"title": l.Title, "about": l.About}
	for n, s := range l.Steps {
		out[s.ID+" text"] = s.Text
		for i, hint := range s.Hints {
			if !isLine(english.Steps[n].Hints[i]) {
				out[fmt.Sprintf("%s hint %d", s.ID, i)] = hint
			}
		}
		if s.Predict == nil {
			continue
		}
		out[s.ID+" ask"] = s.Predict.Ask
		for i, o := range s.Predict.Options {
			out[fmt.Sprintf("%s option %d", s.ID, i)] = o.Say
			if o.Why != "" {
				out[fmt.Sprintf("%s option %d why", s.ID, i)] = o.Why
			}
		}
	}
	return out
}

var (
	liveValues = regexp.MustCompile(`\{\{[^}]*\}\}`)
	codes      = regexp.MustCompile("`[^`]+`")
	// Technical names are the same in all languages: codes, flags, names with inner capitals, fields, paths, files.
	names    = regexp.MustCompile(`\b[1-5][0-9]{2}\b|(^| )--?[A-Za-z][a-z-]*(=[A-Za-z]+)?|\b[A-Z]{4,}\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\$\w+|\b[a-z]+\.(yaml|json)\b|KEP-\d+`)
	sentence = regexp.MustCompile(`[A-Za-z']+( [A-Za-z']+){4,}`)
)

// sameWords returns an error for words that a translation lacks, or if it is still in English.
func sameWords(english, theirs string) error {
	for _, kind := range []*regexp.Regexp{liveValues, codes} {
		want, got := kind.FindAllString(english, -1), kind.FindAllString(theirs, -1)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			return fmt.Errorf("it has %q, and not %q", got, want)
		}
	}
	plain := codes.ReplaceAllString(theirs, "")
	for _, name := range names.FindAllString(codes.ReplaceAllString(english, ""), -1) {
		if name = strings.TrimSuffix(strings.TrimSpace(name), "s"); !strings.Contains(theirs, name) { // Chinese has no plural
			return fmt.Errorf("%s is not in it", name)
		}
	}
	left := sentence.FindString(liveValues.ReplaceAllString(plain, ""))
	switch {
	case left != "":
		return fmt.Errorf("%q is English", left)
	case sentence.MatchString(codes.ReplaceAllString(english, "")) && !strings.ContainsFunc(plain, func(r rune) bool { return unicode.Is(unicode.Han, r) }):
		return fmt.Errorf("there is no Chinese in it")
	}
	return nil
}

// TestTranslate checks that a translation with missing or unknown texts is rejected.
func TestTranslate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	l, err := Parse([]byte(someLesson), []byte(someText))
	is.NoErr(err)
	const whole = `{title: 标题, about: 关于, steps: {a: {text: 创建, hint: [一, 二], ask: 吗, options: [{say: 是}, {say: 否}]}, end: {text: 完}}}`
	theirs, err := Translate(l, []byte(whole))
	is.NoErr(err)
	is.Equal(theirs.Steps[0].Predict.Options[1].Say, "否")
	is.Equal(theirs.Steps[0].Predict.Options[1].If, "status 409") // its conditions are unchanged
	is.Equal(l.Steps[0].Predict.Options[1].Say, "n")              // the English lesson is unchanged, too
	for _, wrong := range []struct{ old, new, want string }{
		{"title: 标题, ", "", "title and about are required"},
		{"text: 创建, ", "", "step a: its text is missing"},
		{"[一, 二]", "[一]", `the hint "two" is missing`},
		{"[一, 二]", "[一, 二, 三]", `there is no hint for "三"`},
		{", {say: 否}", "", "ask and 2 options are required"},
		{"{say: 否}", "{say: 否, why: 因}", "option 2 needs say, and why when"},
		{"end: {text: 完}", "end: {text: 完, ask: 吗}", "it asks nothing"},
		{"end: {text: 完}", "end: {text: 完}, more: {}", "there is no step more"},
		{"ask: 吗", "asks: 吗", "unknown field"},
	} {
		_, err := Translate(l, []byte(strings.Replace(whole, wrong.old, wrong.new, 1)))
		if err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("with %q: %v, want %q", wrong.new, err, wrong.want)
		}
	}
}
