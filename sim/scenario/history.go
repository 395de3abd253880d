package scenario

import (
	"fmt"
	"maps"
	"strconv"
)

// historyCommands compact or restore revisions.
var historyCommands = []Command{
	{Name: "record", Help: "keep what clients do and see from here on, for expect promises kept", Example: "record",
		Group: Worldly, run: (*World).startRecording},
	{Name: "compact", Usage: "[REVISION]", Help: "let the store forget all revisions before now, or before a revision", Example: "compact",
		Group: Worldly, Args: []Arg{Word}, run: (*World).compactTo},
	{Name: "expire", Help: "let the store and every watch cache forget all history", Example: "expire",
		Group: Worldly, run: func(w *World, op *Op) error {
			w.cluster.Expire()
			w.addControlFrame(op, "store", 0)
			return nil
		}},
	{Name: "restore", Usage: "REVISION", Help: "take the store back to a revision, as from a backup", Example: "restore 4007",
		Group: Worldly, Args: []Arg{Word}, needs: 1, run: (*World).restore},
	{Name: "fork", Help: "go on in a fork of the cluster: open watches and requests that wait stay behind", Example: "fork",
		Group: Worldly, run: (*World).fork},
	{Name: "reload", Help: "go on as from an archive of the cluster: open watches and requests that wait stay behind", Example: "reload",
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
	maps.DeleteFunc(w.commits, func(r, _ uint64) bool { return r > rev }) // the restore has removed these commits
	w.addControlFrame(op, "store", 0)
	return nil
}
