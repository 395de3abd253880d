package lesson_test

import (
	"fmt"
	"os"

	"github.com/kubesim/kubesim/sim/lesson"
	"github.com/kubesim/kubesim/sim/scenario"
)

func ExampleFind() {
	l, err := lesson.Find("bookmarks")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Title)
	fmt.Println(l.Steps[0].ID, l.Steps[0].Solution)
	// Output:
	// A watch without events
	// watch [watch configmaps --rv={{start}} --bookmarks --name marked]
}

// A session continues with the next step when the checks of a step hold.
func ExampleStart() {
	l, err := lesson.Find("first")
	if err != nil {
		panic(err)
	}
	s, err := lesson.Start(l)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Step().ID)
	op, err := scenario.Parse("create configmap paint --from-literal color=red")
	if err != nil {
		panic(err)
	}
	if _, err := s.Do(op); err != nil {
		panic(err)
	}
	fmt.Println(s.Step().ID)
	// Output:
	// create
	// change
}

// Parse describes the errors in a lesson that a user has written.
func ExampleParse() {
	_, err := lesson.Parse([]byte("id: mine\ntitle: Mine\nabout: A try.\nsteps:\n- id: only\n"), []byte("## other\nHello.\n"))
	fmt.Println(err)
	// Output: lesson.yaml: unknown field "id"; the documentation of package lesson lists the fields
}

// A translation has every text of its lesson, and no other one.
func ExampleTranslate() {
	l, err := lesson.Find("first")
	if err != nil {
		panic(err)
	}
	words, err := os.ReadFile("data/first/lesson.zh-CN.yaml")
	if err != nil {
		panic(err)
	}
	other, err := lesson.Translate(l, words)
	fmt.Println(other.ID, other.Title != l.Title, err)
	_, err = lesson.Translate(l, []byte("title: Eine Zahl"))
	fmt.Println(err)
	// Output:
	// first true <nil>
	// translation of first: title and about are required
}
