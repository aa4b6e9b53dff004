// Package audit keeps a log of proposals, answers and written files. It guarantees that
// the log is only appended to, that each entry holds the hash of the one before, so that a
// change or a gap is found, and that processes which append at the same time lose nothing.
//
// The chain protects against accidents and against a change by somebody who does not
// rewrite all that follows. Somebody with the rights of the user can rewrite the whole
// log: compare the hash of its last entry with a copy kept elsewhere.
package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/hexsum"
	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// Event is the kind of an entry.
type Event string

// The events.
const (
	Approved  Event = "approved"
	Declined  Event = "declined"
	Withdrawn Event = "withdrawn" // the turn ended before an answer
	Written   Event = "written"   // a file was written or removed
)

// Entry is a line of the log.
type Entry struct {
	Time    time.Time `json:"time"`
	Session string    `json:"session,omitzero"`
	Dir     string    `json:"dir,omitzero"` // the workspace
	Event   Event     `json:"event"`
	Kind    string    `json:"kind,omitzero"`    // edit, plan, document, command, read or save
	Tool    string    `json:"tool,omitzero"`    // the asking tool
	Subject string    `json:"subject,omitzero"` // the command line, or the paths
	By      string    `json:"by,omitzero"`      // the surface or the rule that answered
	Rule    bool      `json:"rule,omitzero"`    // a rule answered, not a person
	Edited  bool      `json:"edited,omitzero"`  // the person changed the proposal
	Always  string    `json:"always,omitzero"`  // the rule that the answer made, and its term
	// Hash is the SHA-256 of the proposed text or the command line; of Written, that of
	// the file's bytes, empty if it was removed.
	Hash string `json:"sha256,omitzero"`

	Prev string `json:"prev"` // Sum of the entry before; empty in the first
	Sum  string `json:"sum"`  // SHA-256 of the entry as JSON with an empty Sum
}

// Line describes e in a line, which is not sanitized.
func (e Entry) Line() string {
	line := fmt.Sprintf("%s  %-9s %s", e.Time.Local().Format(time.DateTime), e.Event, cmp.Or(e.Kind, e.Tool))
	if e.Subject != "" {
		line += "  " + strings.ReplaceAll(e.Subject, "\n", ", ")
	}
	if e.By != "" {
		line += "  by " + e.By
	}
	if e.Always != "" {
		line += ", always: " + e.Always
	}
	if e.Edited {
		line += ", edited"
	}
	return line
}

// Log is the log in the program's own folder. It is safe for concurrent use, also by
// several processes.
type Log struct{ file string }

// Open returns the log below home, without reading it.
func Open(home string) Log { return Log{filepath.Join(home, "audit.jsonl")} }

// lockTimeout is how long Append waits for another process.
const lockTimeout = 5 * time.Second

// Append adds an entry and sets its Time, Prev and Sum. It shortens a long Subject. A line
// that a dying process left unfinished is cut off before. The end of ctx does not keep the
// entry from the log.
func (l Log) Append(ctx context.Context, e Entry) (err error) {
	e.Time = time.Now().UTC()
	if len(e.Subject) > maxSubject {
		e.Subject = strings.ToValidUTF8(e.Subject[:maxSubject], "") + "…"
	}
	for _, s := range []*string{&e.Session, &e.Dir, &e.Kind, &e.Tool, &e.Subject, &e.By, &e.Always} {
		*s = strings.ToValidUTF8(*s, "\uFFFD") // JSON holds no other text: an entry must read back as written
	}
	ctx, cancel := timelimit.Context(context.WithoutCancel(ctx), lockTimeout)
	defer cancel()
	lock, err := statefile.Acquire(ctx, l.file+".lock")
	if err != nil {
		return fmt.Errorf("lock %s: %w", l.file, timelimit.Explain(ctx, err))
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	f, err := statefile.OpenAppend(l.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if e.Prev, err = l.cutTail(f); err != nil {
		return err
	}
	if e.Sum, err = e.sum(); err != nil {
		return err
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

// sum returns the Sum that belongs to e.
func (e Entry) sum() (string, error) {
	e.Sum = ""
	data, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	return hexsum.Of(data), nil
}

// maxSubject bounds Subject, in bytes: Hash covers the whole command. maxLine bounds an
// entry as JSON, where a byte may take six; usualLine holds nearly all.
const (
	maxSubject = 4 << 10
	maxLine    = 64 << 10
	usualLine  = 4 << 10
)

// entryStart begins the line of each entry.
var entryStart = []byte(`{"time":"`)

// cutTail removes an unfinished last line from f and returns the Sum of the entry before.
func (l Log) cutTail(f *os.File) (prev string, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return "", err
	}
	tail, from, err := readTail(f, info.Size())
	if err != nil {
		return "", err
	}
	end := bytes.LastIndexByte(tail, '\n') + 1
	if torn := tail[end:]; end == 0 && from > 0 || !bytes.HasPrefix(torn, entryStart[:min(len(torn), len(entryStart))]) {
		return "", fmt.Errorf("%s does not end with an entry; move the file away to begin a new log", l.file)
	}
	if end < len(tail) {
		if err := statefile.Truncate(l.file, from+int64(end)); err != nil {
			return "", err
		}
	}
	if end == 0 {
		return "", nil
	}
	line := tail[bytes.LastIndexByte(tail[:end-1], '\n')+1 : end]
	var last Entry
	if err := json.Unmarshal(line, &last); err != nil {
		return "", fmt.Errorf("the last line of %s is not an entry; move the file away to begin a new log: %w", l.file, err)
	}
	return last.Sum, nil
}

// readTail returns the last bytes of f, which has the given size, and where they begin.
// They hold the last entry unless it is longer than maxLine.
func readTail(f *os.File, size int64) (tail []byte, from int64, err error) {
	for _, most := range []int64{usualLine, maxLine} {
		from = max(0, size-most)
		tail = make([]byte, size-from)
		if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		end := max(0, bytes.LastIndexByte(tail, '\n'))
		if from == 0 || bytes.IndexByte(tail[:end], '\n') >= 0 {
			break // the last entry begins in the tail
		}
	}
	return tail, from, nil
}

// BrokenError reports an entry that does not continue the one before.
type BrokenError struct {
	Line int // 1-based
	Why  string
}

func (b *BrokenError) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Why) }

// Each calls visit with all entries, the oldest first, each with the fault that Each found
// in it, or nil. A missing log has none. An error of visit ends it.
func (l Log) Each(visit func(Entry, *BrokenError) error) error {
	f, err := os.Open(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := newLines(f)
	for prev, n := "", 1; ; n++ {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.file, err)
		}
		e, broken := check(line, prev, n)
		if err := visit(e, broken); err != nil {
			return err
		}
		prev = e.Sum
	}
}

// check reads line n, which follows an entry with the sum prev.
func check(line []byte, prev string, n int) (Entry, *BrokenError) {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return e, &BrokenError{n, "it is not an entry: " + err.Error()}
	}
	sum, err1 := e.sum()
	same, err2 := json.Marshal(e) // finds keys that are unknown, doubled or moved
	switch err := errors.Join(err1, err2); {
	case err != nil:
		return e, &BrokenError{n, err.Error()}
	case sum != e.Sum || !bytes.Equal(same, line):
		return e, &BrokenError{n, "it was changed after it was written"}
	case e.Prev != prev:
		return e, &BrokenError{n, "entries before it were removed, added or moved"}
	}
	return e, nil
}

// Session returns the entries of a session.
func (l Log) Session(id string) (all []Entry, err error) {
	err = l.Each(func(e Entry, _ *BrokenError) error {
		if e.Session == id {
			all = append(all, e)
		}
		return nil
	})
	return all, err
}
