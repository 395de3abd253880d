package scenario

import (
	"fmt"
	"maps"
	"strconv"
)

// historyCommands record the requests of clients, and compact, restore or copy the store.
var historyCommands = []Command{
	{Name: "record", Help: "record the requests and events of clients from here on, for expect promises kept", Example: "record",
		Group: Worldly, run: (*World).startRecording},
	{Name: "compact", Usage: "[REVISION]", Help: "compact the store, up to now or to a revision", Example: "compact",
		Group: Worldly, Args: []Arg{Word}, run: (*World).compactTo},
	{Name: "expire", Help: "compact the store, and clear the history of every watch cache", Example: "expire",
		Group: Worldly, run: func(w *World, op *Op) error {
			w.cluster.Expire()
			w.addControlFrame(op, "store", 0)
			return nil
		}},
	{Name: "restore", Usage: "REVISION", Help: "restore the store to a revision, as from a backup", Example: "restore 4007",
		Group: Worldly, Args: []Arg{Word}, needs: 1, run: (*World).restore},
	{Name: "fork", Help: "continue in a fork of the cluster, without open watches and waiting requests", Example: "fork",
		Group: Worldly, run: (*World).fork},
	{Name: "reload", Help: "continue as from an archive of the cluster, without open watches and waiting requests", Example: "reload",
		Group: Worldly, run: (*World).reload},
}

func (w *World) compactTo(op *Op) error {
	w.used = true
	if len(op.Args) == 0 {
		w.cluster.Compact()
		return nil
	}
	rev, err := strconv.ParseUint(op.Args[0], 10, 64)
	if err != nil {
		return fmt.Errorf("compact needs a revision, not %q", op.Args[0])
	}
	if err := w.cluster.CompactTo(rev); err != nil {
		return fmt.Errorf("revision %d: %w", rev, err)
	}
	return nil
}

func (w *World) restore(op *Op) error {
	rev, err := strconv.ParseUint(op.Args[0], 10, 64)
	if err != nil {
		return fmt.Errorf("restore needs a revision, not %q", op.Args[0])
	}
	if err := w.cluster.Restore(rev); err != nil {
		return err
	}
	maps.DeleteFunc(w.commits, func(r, _ uint64) bool { return r > rev }) // these commits no longer exist after a restore
	w.addControlFrame(op, "store", 0)
	return nil
}
