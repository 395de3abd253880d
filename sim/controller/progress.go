package controller

// Progress is notified of runs that take long, such as when a large cluster is filled.
type Progress interface {
	// Reconciled is called after each thousand reconciles of one Run, with their number and that of the items that are due. The
	// Cluster's lock is held.
	Reconciled(done, due int)
}

// progressEvery is the number of reconciles between two calls of Reconciled.
const progressEvery = 1000
