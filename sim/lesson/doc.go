// Package lesson has the lessons of the playground, and what happens in one.
//
//	data/conflict/lesson.yaml   world, setup, steps: who does what, what has to come true
//	data/conflict/text.en.md    a section per step: "## read" and at most 60 words
//	        │
//	        ▼
//	Lesson ── Start ──▶ Session ── Do(op) ──▶ scenario.World
//	 Steps                │  after each op of the learner: do the checks of the step hold?
//	 ┌──────┐             │  yes: the prediction is graded, the next step begins, and what others do in it is done
//	 │ say  │ text        ▼
//	 │ predict│ options, each with a condition: the one that holds in the end was right
//	 │ do   │ ops of others, done when the step begins
//	 │ check│ conditions of sim/scenario
//	 │ hint │ two, the second one says more
//	 │ solution│ ops that make the check hold; go test runs them all
//	 └──────┘
//
// A Session is a function of its lesson and the learner's ops: the same ops lead to the same frames and the same step.
package lesson
