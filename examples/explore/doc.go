// Package explore shows fake.Explore: the ordinary test of an operator, run under hundreds of plans in which something goes
// wrong. The operator is correct; with each of three mistakes the same test finds it.
package explore
