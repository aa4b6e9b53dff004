package archive

import (
	"bytes"
	"slices"

	"github.com/bb2d0cf4/agent/internal/llm"

	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Unfinished is a session that the end of the program left in the middle of a turn.
type Unfinished struct {
	ID        string
	Call      *llm.ToolCall // that has no result; nil: none
	Undecided bool          // the user was being asked about it
}

// Left returns the newest session of dir if the program ended in the middle of a turn
// of it and no process has it open; else nil. It reads the end of its file, and all of
// it only where that tells so.
func (a *Archive) Left(dir string) *Unfinished {
	files, err := sessionFiles(a.project(dir))
	if err != nil || len(files) == 0 {
		return nil
	}
	f := slices.MaxFunc(files, byTime)
	tail, err := readEnd(f.path, f.size, tailSize)
	if err != nil || settled(tail) || statefile.Held(lockPath(f.path)) {
		return nil
	}
	_, conv, err := a.Read(idOf(f.path))
	if err != nil {
		return nil
	}
	chat, _, _ := history.Rebuild(conv.Entries)
	u := &Unfinished{ID: idOf(f.path)}
	u.Call, u.Undecided, _ = history.Left(chat.Items())
	return u
}

// settled reports whether the end of a session's file is that of a turn which ended
// while the program went on.
func settled(tail []byte) bool {
	over, cut := true, false
	scanFrames(tail, func(body []byte) {
		switch {
		case bytes.HasPrefix(body, []byte(`{"kind":"`+string(kindState)+`"`)):
			over = true
		case bytes.HasPrefix(body, []byte(`{"kind":"`+string(kindMessage)+`"`)):
			over, cut = false, endedIn(body)
		}
	})
	return over && !cut
}

// endedIn reports whether a message says that the program ended.
func endedIn(body []byte) bool {
	r, err := decodeRecord(body)
	if err != nil || r.Message == nil {
		return false
	}
	_, _, left := history.Left([]history.Item{{Message: *r.Message}})
	return left
}
