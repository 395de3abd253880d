// Package explore shows fake.Explore, which runs an ordinary test of an operator with hundreds of fault plans. The operator is
// correct. If one of three bugs is added to it, the same test finds the bug.
package explore
