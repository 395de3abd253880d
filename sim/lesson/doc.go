// Package lesson has the lessons of the playground, and what happens in one.
//
//	data/conflict/lesson.yaml   world, setup, steps: who does what, what has to come true; controllers and nodes, if any work by
//	                            themselves
//	data/conflict/text.en.md    a section per step: "## read" and at most 60 words; or text in the steps of lesson.yaml, which is
//	                            then all there is: a lesson that somebody wrote in the page
//	data/conflict/lesson.zh-CN.yaml    the texts in another language: Translate
//	        │
//	        ▼
//	Lesson ── Start ──▶ Session ── Do(op) ──▶ scenario.World
//	 Steps                │  after each op of the learner: do the checks of the step hold?
//	 ┌──────┐             │  yes: the prediction is graded, the next step begins, and what others do in it is done
//	 │ say  │ text        ├─ Unasked: what the learner did that the step did not ask for
//	 │ needs│ conditions  └─ Broken: can the lesson still be finished? If not: which op is in the way
//	 │ predict│ options, each with a condition: the one that holds in the end was right; the others say why not
//	 │ do   │ ops of others, done when the step begins; let keeps values for the texts
//	 │ check│ conditions of sim/scenario
//	 │ hint │ two, the second one says more
//	 │ solution│ lines that make the check hold; go test runs them all
//	 └──────┘
//
// README.md says how to write one, Rehearse takes it with its own solutions. Find and All return those that come with kubesim.
//
// Texts, options, hints, conditions and solutions hold live values: {{cm/paint.rv}} is the resourceVersion that paint has now,
// {{red}} what a line "let red = …" has kept. A revision is never written by hand.
//
// A lesson cannot be broken without a word. Session.Broken does the rest of it in a world of its own: every later step must
// find what its text speaks of (needs), be passed by its solution, and have exactly one right answer.
//
// A Session is a function of its lesson and the learner's ops: the same ops lead to the same frames and the same step.
package lesson
