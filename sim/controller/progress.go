package controller

// Progress is notified of the progress of long runs, such as the setup of a large cluster.
type Progress interface {
	// Reconciled is called after each thousand reconciles of a Run. done is their number, and due is the number of items that are
	// due. The Cluster's lock is held.
	Reconciled(done, due int)
}

// progressEvery is the number of reconciles between two calls of Reconciled.
const progressEvery = 1000

// betweenEvery is the number of reconciles after which Run calls between.
const betweenEvery = 100
