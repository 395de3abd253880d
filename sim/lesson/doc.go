// Package lesson contains the lessons of the playground and runs them.
//
//	data/conflict/lesson.yaml   world, setup, steps with their ops and checks; controllers and nodes, if any
//	data/conflict/text.en.md    a section per step: "## read" and at most 60 words. Lessons that users write in the page have no
//	                            such file: the steps in lesson.yaml contain the texts
//	data/conflict/lesson.zh-CN.yaml    the texts in another language: Translate
//	        │
//	        ▼
//	Lesson ── Start ──▶ Session ── Do(op) ──▶ scenario.World
//	 Steps                │  after each op of the learner: do the checks of the step hold?
//	 ┌──────┐             │  If so, the prediction is graded, the next step begins, and the ops of other clients in it run
//	 │ say  │ text        ├─ Unasked: ops of the learner that the step did not ask for
//	 │ needs│ conditions  └─ Broken: do the lesson's solutions still work? If not, since which op?
//	 │ predict│ options, each with a condition: the option whose condition holds in the end is right; the others explain why not
//	 │ do   │ ops of other clients, run when the step begins; let stores values for the texts
//	 │ check│ conditions of sim/scenario
//	 │ hint │ two hints; the second one is more specific
//	 │ solution│ lines that make the check hold; go test runs them all
//	 └──────┘
//
// README.md explains how to write a lesson. Rehearse runs a lesson with its own solutions. Find and All return the
// built-in lessons.
//
// Texts, options, hints, conditions and solutions contain live values: {{cm/paint.rv}} is the current resourceVersion
// of paint, and {{red}} is the value that a line "let red = …" has stored. Revisions are never hard-coded.
//
// A broken lesson is always reported. Session.Broken runs the rest of the lesson in a separate World: for each
// remaining step, the objects that its text mentions must exist (needs), the solution must pass the step, and the
// question must have exactly one right answer.
//
// A Session is determined by its lesson and the learner's ops: the same ops lead to the same frames and the same step.
package lesson
