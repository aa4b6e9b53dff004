package archive

import (
	"bytes"
	"slices"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Unfinished is a session that was in the middle of a turn when the program ended.
type Unfinished struct {
	ID        string
	Call      *llm.ToolCall // without a result; may be nil
	Undecided bool          // the user was being asked about it
}

// FindUnfinished returns the newest session of dir if the program ended in the middle
// of its turn and no process has it open; else nil. It reads the end of the file, and
// all of it only if that is unfinished.
func (a *Archive) FindUnfinished(dir string) *Unfinished {
	files, err := sessionFiles(a.project(dir))
	if err != nil || len(files) == 0 {
		return nil
	}
	f := slices.MaxFunc(files, byTime)
	tail, err := readEnd(f.path, f.size, tailSize)
	if err != nil || turnEnded(tail) || statefile.Held(lockPath(f.path)) {
		return nil
	}
	_, conv, err := a.Read(idOf(f.path))
	if err != nil {
		return nil
	}
	chat, _, _ := history.Rebuild(conv.Entries)
	u := &Unfinished{ID: idOf(f.path)}
	u.Call, u.Undecided, _ = history.Unfinished(chat.Items())
	return u
}

// turnEnded reports whether the end of a session's file is the end of a turn that the
// program survived.
func turnEnded(tail []byte) bool {
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

// endedIn reports whether a message marks the end of the program.
func endedIn(body []byte) bool {
	r, err := decodeRecord(body)
	if err != nil || r.Message == nil {
		return false
	}
	_, _, left := history.Unfinished([]history.Item{{Message: *r.Message}})
	return left
}
