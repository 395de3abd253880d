package builtin

// coreKinds returns the kinds of the core group.
func coreKinds() []kind {
	var all []kind
	for _, part := range [][]kind{podKinds(), configKinds(), serviceKinds(), clusterKinds(), volumeKinds(), eventKinds()} {
		all = append(all, part...)
	}
	return all
}
