package etcd

// The etcd is a cluster of one member, which is always the leader.
const (
	clusterID = 0x6b7562657369
	memberID  = 1
	raftTerm  = 2
)

// memberList returns MemberListResponse { header = 1, members = 2 { ID = 1, name = 2, peerURLs = 3, clientURLs = 4 } }. The member has no
// URLs: a client continues to use the address that it has.
func (s *Service) memberList(message) (*builder, error) {
	return s.answer(func(b *builder) { b.Message(2, new(builder).Number(1, memberID).Text(2, "kubesim")) })
}

// status returns StatusResponse { header = 1, version = 2, dbSize = 3, leader = 4, raftIndex = 5, raftTerm = 6, raftAppliedIndex = 7,
// dbSizeInUse = 9, storageVersion = 11 }. The size is the number of keys, because no file has their values.
func (s *Service) status(message) (b *builder, err error) {
	err = s.store.Do(func(tx Tx) error {
		all, err := tx.Range(Range{"\x00", "\x00"}, 0)
		size, rev := int64(len(all)), int64(tx.Rev())
		b = new(builder).Message(1, header(tx)).Text(2, Version).Number(3, size).Number(4, memberID).Number(5, rev).Number(6, raftTerm)
		b.Number(7, rev).Number(9, size).Text(11, "3.6.0")
		return err
	})
	return b, err
}

// alarm returns AlarmResponse { header = 1 }: there are no alarms.
func (s *Service) alarm(message) (*builder, error) { return s.answer(func(*builder) {}) }
