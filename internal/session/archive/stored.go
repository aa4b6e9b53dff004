package archive

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// lastCompaction returns a place in a file of the given size before which everything is older than
// its last compaction; zero if it has none. It reads the file from its end, so many bytes at once.
func lastCompaction(f io.ReaderAt, size, atOnce int64) (int64, error) {
	mark := []byte(recPart + `{"kind":"` + string(kindCompact) + `"`)
	buf := make([]byte, min(size, atOnce+int64(len(mark))))
	for end := size; end > 0; {
		from := max(end-atOnce, 0)
		data := buf[:min(size, end+int64(len(mark)))-from]
		if _, err := f.ReadAt(data, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		last := -1
		for at := 0; ; {
			i := bytes.Index(data[at:], mark)
			if i < 0 {
				break
			}
			last, at = at+i, at+i+1
		}
		if last >= 0 {
			return from + int64(last), nil
		}
		end = from
	}
	return 0, nil
}

// leastStored is the size from which the content of a result is left in the file, in bytes.
const leastStored = 512

// withoutParts returns the record of a result with another text in the place of its parts, which are
// most of a session's file. It does not decode them. It returns false for a record that is
// shorter, or not exactly as this program writes it.
func withoutParts(body []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"kind":"`+string(kindMessage)+`",`))
	if !ok || len(body) < leastStored {
		return nil, false
	}
	if n, ok := bytes.CutPrefix(rest, []byte(`"n":`)); ok {
		rest = bytes.TrimLeft(n, "0123456789")
		if rest, ok = bytes.CutPrefix(rest, []byte(",")); !ok {
			return nil, false
		}
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`"message":{"role":"`+string(llm.ToolReply)+`","parts":`))
	if !ok {
		return nil, false
	}
	end := arrayEnd(rest)
	if end < 0 {
		return nil, false
	}
	head := body[:len(body)-len(rest)]
	out := make([]byte, 0, len(head)+len(rest)-end+len(notLoaded))
	return append(append(append(out, head...), notLoaded...), rest[end:]...), true
}

// notLoaded replaces parts that are not loaded.
const notLoaded = `[{"kind":"text","text":"[not loaded]"}]`

// arrayEnd returns the length of the JSON array at the beginning of p, or -1.
func arrayEnd(p []byte) int {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '"':
			n := stringEnd(p[i+1:])
			if n < 0 {
				return -1
			}
			i += n
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		if depth == 0 {
			return -1
		}
	}
	return -1
}

// stringEnd returns the length of a JSON string whose opening quote is before p, or -1.
func stringEnd(p []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(p[at:], '"')
		if i < 0 {
			return -1
		}
		at += i + 1
		escapes := 0
		for j := at - 2; j >= 0 && p[j] == '\\'; j-- {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}

// storedIn returns the content of the message whose record is at a place of the file with a path.
func storedIn(path string, at int64, body []byte) *history.Stored {
	size, sum := len(body), checksum(body)
	return &history.Stored{Size: size, Load: func() (m llm.Message, task *history.Task, err error) {
		f, err := os.Open(path)
		if err != nil {
			return m, nil, errors.New(Reason(err))
		}
		data := make([]byte, size)
		_, err = f.ReadAt(data, at)
		if err = errors.Join(err, f.Close()); err != nil {
			return m, nil, errors.New(Reason(err))
		}
		if checksum(data) != sum {
			return m, nil, errors.New("it was changed since")
		}
		r, err := decodeRecord(data)
		if err != nil || r.Message == nil {
			return m, nil, errors.Join(errors.New("it is damaged"), err)
		}
		if r.Note != nil {
			task = r.Note.Task
		}
		return *r.Message, task, nil
	}}
}
