// Package explore shows fake.Explore: an ordinary test of an operator is run under hundreds of plans with faults. The operator is correct;
// when one of three mistakes is added, the same test finds it.
package explore
