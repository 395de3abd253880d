// Package lesson contains the lessons of the playground and runs them.
//
//	data/conflict/lesson.yaml   world, setup, steps with their ops and checks; controllers and nodes, if any work by themselves
//	data/conflict/text.en.md    a section per step: "## read" and at most 60 words. Lessons that users write in the page have no
//	                            such file: their texts are in the steps of lesson.yaml
//	data/conflict/lesson.zh-CN.yaml    the texts in another language: Translate
//	        │
//	        ▼
//	Lesson ── Start ──▶ Session ── Do(op) ──▶ scenario.World
//	 Steps                │  after each op of the learner: do the checks of the step hold?
//	 ┌──────┐             │  yes: the prediction is graded, the next step begins, and the ops of others in it run
//	 │ say  │ text        ├─ Unasked: ops of the learner that the step did not ask for
//	 │ needs│ conditions  └─ Broken: can the lesson still be finished? If not: which op prevents it
//	 │ predict│ options, each with a condition: the one that holds in the end was right; the others explain why not
//	 │ do   │ ops of others, done when the step begins; let keeps values for the texts
//	 │ check│ conditions of sim/scenario
//	 │ hint │ two, the second one says more
//	 │ solution│ lines that make the check hold; go test runs them all
//	 └──────┘
//
// README.md explains how to write a lesson. Rehearse runs it with its own solutions. Find and All return the built-in lessons.
//
// Texts, options, hints, conditions and solutions contain live values: {{cm/paint.rv}} is the current resourceVersion of paint, and
// {{red}} the value that a line "let red = …" has stored. A revision is never written by hand.
//
// A broken lesson is always reported. Session.Broken runs the rest of the lesson in a separate World: for every later step, the objects
// that its text mentions must exist (needs), its solution must pass it, and its question must have exactly one right answer.
//
// A Session is a function of its lesson and the learner's ops: the same ops lead to the same frames and the same step.
package lesson
