package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
)

// recordKind is the kind of a record of the journal.
type recordKind byte

// The kinds of record.
const (
	blobRecord    recordKind = 'B' // a hash and its content
	entryRecord   recordKind = 'E' // an entry as JSON
	outcomeRecord recordKind = 'O' // an outcome as JSON
)

// A record is its kind, the length of its payload (4 bytes), the CRC-32C of kind, length
// and payload (4 bytes), and the payload. The CRC does not cover the content of a blob,
// so that a scan need not read it: its hash is checked when it is used.
const headerSize = 9

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func checksum(data []byte) uint32 { return crc32.Checksum(data, crcTable()) }

// Hash is the SHA-256 of a file's bytes.
type Hash [sha256.Size]byte

// MarshalText returns h in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads what MarshalText returned.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return errors.New("not a hash")
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Entry is one change of one file about to be made.
type Entry struct {
	ID   string `json:"id"`
	Time int64  `json:"time"` // Unix, nanoseconds; increasing within a segment
	// Seq orders the entries of all processes, also after the clock was set back. It is at
	// least Time; zero in journals without it, which Time orders.
	Seq int64 `json:"seq,omitzero"`
	Origin

	Path string `json:"path"` // absolute
	Name string `json:"name"` // for people
	// Before and After are hashes of the content; nil for no file.
	Before *Hash       `json:"before,omitzero"`
	After  *Hash       `json:"after,omitzero"`
	Mode   fs.FileMode `json:"mode"` // before the change; for a new file, after it
	// ModeAfter is the mode after a change that may be one of the mode, of a link or of a
	// folder; nil for an edit, which keeps the mode. The content of a link is its target;
	// that of a folder is empty.
	ModeAfter *fs.FileMode `json:"mode_after,omitzero"`
	// Unkept is the reason why the content before or after is unknown; its hash is zero.
	Unkept string `json:"unkept,omitzero"`

	// Encoding, BOM and EOL describe how to read the content as text.
	Encoding string `json:"encoding,omitzero"`
	BOM      bool   `json:"bom,omitzero"`
	EOL      string `json:"eol,omitzero"`

	Made
}

// Made lists side effects of a change.
type Made struct {
	Temp string   `json:"temp,omitzero"` // the temp file beside the file, while it is written
	Dirs []string `json:"dirs,omitzero"` // folders made for the file or removed with it, outermost first
}

// Origin records the reason for a change.
type Origin struct {
	Session string   `json:"session,omitzero"`
	Turn    string   `json:"turn,omitzero"`
	Call    string   `json:"call,omitzero"` // of the model
	Tool    string   `json:"tool,omitzero"`
	Run     string   `json:"run,omitzero"`     // one for all changes by a command, or written together
	Command string   `json:"command,omitzero"` // its line
	Undoes  []string `json:"undoes,omitzero"`  // IDs of the entries that it undoes
	Part    bool     `json:"part,omitzero"`    // of an undo: it undoes only a part of the entries, which stay in effect
	Of      int      `json:"of,omitzero"`      // of an undo: the number of its files
	// Together is the number of files that were to be written together with this one, all
	// or none; zero if it was written alone.
	Together int `json:"together,omitzero"`
}

// outcome records the end of an entry.
type outcome struct {
	ID   string `json:"id"`
	Done bool   `json:"done"` // the file is as after the entry; else as before
}

func appendRecord(out []byte, kind recordKind, payload ...[]byte) []byte {
	size := 0
	for _, p := range payload {
		size += len(p)
	}
	out = append(out, byte(kind))
	out = binary.LittleEndian.AppendUint32(out, uint32(size))
	crc := crc32.Update(checksum(out[len(out)-5:]), crcTable(), payload[0])
	out = binary.LittleEndian.AppendUint32(out, crc)
	for _, p := range payload {
		out = append(out, p...)
	}
	return out
}

func encodeJSON(kind recordKind, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return appendRecord(nil, kind, data), nil
}

// records is the content of a segment.
type records struct {
	entries []*Entry
	done    map[string]bool     // by entry; absent if in doubt
	blobs   map[Hash]blobExtent // where their content is
	end     int64               // of the last whole record
}

type blobExtent struct{ offset, size int64 }

// scan reads the records of f. It ends at a torn or damaged record: later ones cannot be
// found.
func scan(f *os.File) (*records, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	rs := &records{done: map[string]bool{}, blobs: map[Hash]blobExtent{}}
	w := window{file: f, size: info.Size()}
	for {
		size, err := rs.next(&w)
		if errors.Is(err, errTorn) {
			return rs, nil
		}
		if err != nil {
			return nil, err
		}
		rs.end += size
	}
}

// errTorn ends a scan.
var errTorn = errors.New("torn record")

// next reads the record at rs.end and returns its size.
func (rs *records) next(w *window) (int64, error) {
	head, err := w.at(rs.end, headerSize)
	if err != nil {
		return 0, err
	}
	kind, size := recordKind(head[0]), int64(binary.LittleEndian.Uint32(head[1:]))
	crc, want := checksum(head[:5]), binary.LittleEndian.Uint32(head[5:])
	inCRC := size
	if kind == blobRecord {
		inCRC = int64(len(Hash{}))
	}
	if size < inCRC || rs.end+headerSize+size > w.size {
		return 0, errTorn
	}
	payload, err := w.at(rs.end+headerSize, inCRC)
	if err != nil {
		return 0, err
	}
	if crc32.Update(crc, crcTable(), payload) != want {
		return 0, errTorn
	}
	if kind == blobRecord {
		rs.blobs[Hash(payload)] = blobExtent{rs.end + headerSize + inCRC, size - inCRC}
		return headerSize + size, nil
	}
	return headerSize + size, rs.add(kind, payload)
}

// add decodes one record. It ignores unknown kinds, which a later version may write.
func (rs *records) add(kind recordKind, payload []byte) error {
	var err error
	switch kind {
	case entryRecord:
		e := new(Entry)
		err = json.Unmarshal(payload, e)
		rs.entries = append(rs.entries, e)
	case outcomeRecord:
		var o outcome
		err = json.Unmarshal(payload, &o)
		rs.done[o.ID] = o.Done
	}
	if err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	return nil
}

// window reads small pieces of a file, most of them close together, and skips the rest.
type window struct {
	file  io.ReaderAt
	size  int64 // of the file
	buf   []byte
	start int64 // of buf in the file
}

// windowSize is the number of bytes read at a time.
const windowSize = 4 << 10

// at returns the n bytes at offset; they are valid until the next call.
func (w *window) at(offset, n int64) ([]byte, error) {
	if offset+n > w.size {
		return nil, errTorn
	}
	if offset < w.start || offset+n > w.start+int64(len(w.buf)) {
		w.buf = make([]byte, min(max(n, windowSize), w.size-offset))
		w.start = offset
		if _, err := w.file.ReadAt(w.buf, offset); err != nil {
			return nil, err
		}
	}
	return w.buf[offset-w.start:][:n], nil
}
