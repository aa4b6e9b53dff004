package archive

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
)

// A line is:
//
//	{"sum":"e3069283","len":41,"rec":{"kind":"title","title":"…"}}
//
// sum is the CRC-32C of rec as written, len its length in bytes. The line is JSON for
// other programs; this program trusts nothing in it until sum and len agree.
const (
	// frameStart begins each line.
	frameStart = `{"sum":"`
	lenPart    = `","len":`
	recPart    = `,"rec":`
	ending     = "}\n"
)

// appendFrame appends the line of a record, which is JSON, to buf.
func appendFrame(buf, rec []byte) []byte {
	buf = fmt.Appendf(buf, `%s%08x%s%d%s`, frameStart, checksum(rec), lenPart, len(rec), recPart)
	buf = append(buf, rec...)
	return append(buf, ending...)
}

// scanned describes the content of a file.
type scanned struct {
	Good  int64 // bytes up to the end of the last intact record
	Torn  int64 // bytes after it
	Bad   int   // damaged places before it
	Ended bool  // the last intact record has its line ending
}

// scanFrames calls each with every intact record in data. It skips other bytes, but
// looks for records inside them, as a record may follow a torn one without a line
// ending. (The start of a record cannot occur within a record: JSON escapes its
// quotes.)
func scanFrames(data []byte, each func(rec []byte)) scanned {
	s := scanner{scanned: scanned{Ended: true}}
	s.scan(data, func(rec []byte, _ int64) { each(rec) })
	return s.result()
}

// scanFile is scanFrames of a file of the given size, with the place of each record in it. It reads
// so many bytes at once, or the longest line; a record is valid until each returns.
func scanFile(r io.ReaderAt, size, atOnce int64, each func(rec []byte, at int64)) (scanned, error) {
	s := scanner{scanned: scanned{Ended: true}}
	in := io.NewSectionReader(r, 0, size)
	buf, kept := make([]byte, min(size, atOnce)), 0
	for s.pos < size {
		n, err := io.ReadFull(in, buf[kept:min(int64(len(buf)), int64(kept)+size-s.pos-int64(kept))])
		if err != nil {
			return scanned{}, err
		}
		data := buf[:kept+n]
		end := len(data)
		if s.pos+int64(end) < size {
			end = bytes.LastIndexByte(data, '\n') + 1 // no record spans lines
		}
		if end == 0 {
			buf = slices.Concat(data, make([]byte, len(data)))
			kept = len(data)
			continue
		}
		s.scan(data[:end:end], each)
		kept = copy(buf, data[end:])
	}
	return s.result(), nil
}

// readAtOnce is how much of a file is read at once, in bytes.
const readAtOnce = 1 << 20

// scanner scans a file in pieces that begin with a line.
type scanner struct {
	scanned
	pos     int64 // of the next piece
	damaged bool  // the bytes before it belong to no record
}

func (s *scanner) scan(data []byte, each func(rec []byte, at int64)) {
	for pos := 0; pos < len(data); {
		rec, size, ended := intact(data[pos:])
		if size == 0 {
			s.damaged = true
			pos += nextStart(data[pos:])
			continue
		}
		if s.damaged {
			s.Bad++
			s.damaged = false
		}
		each(rec, s.pos+int64(cap(data)-cap(rec)))
		pos += size
		s.Good, s.Ended = s.pos+int64(pos), ended
	}
	s.pos += int64(len(data))
}

// result returns the result once all is scanned.
func (s *scanner) result() scanned {
	s.Torn = s.pos - s.Good
	return s.scanned
}

// nextStart returns the distance to the next place in data, after its first
// byte, at which a record may start, or len(data).
func nextStart(data []byte) int {
	if i := bytes.Index(data[1:], []byte(frameStart)); i >= 0 {
		return i + 1
	}
	return len(data)
}

// intact returns the record at the beginning of data and the size of its line; size is
// zero if there is no intact record. ended is false if only the line ending is missing.
func intact(data []byte) (rec []byte, size int, ended bool) {
	rest, ok := bytes.CutPrefix(data, []byte(frameStart))
	if !ok || len(rest) < 8 {
		return nil, 0, false
	}
	sum, err := strconv.ParseUint(string(rest[:8]), 16, 32)
	if err != nil {
		return nil, 0, false
	}
	rest, ok = bytes.CutPrefix(rest[8:], []byte(lenPart))
	digits := bytes.IndexByte(rest[:min(len(rest), 20)], ',')
	if !ok || digits < 0 {
		return nil, 0, false
	}
	n, err := strconv.Atoi(string(rest[:digits]))
	rest, ok = bytes.CutPrefix(rest[digits:], []byte(recPart))
	if err != nil || !ok || n < 0 || n >= len(rest) || rest[n] != '}' {
		return nil, 0, false
	}
	rec = rest[:n]
	if checksum(rec) != uint32(sum) {
		return nil, 0, false
	}
	size = len(data) - len(rest) + n + 1
	if ended = bytes.HasPrefix(rest[n+1:], []byte("\n")); ended {
		size++
	}
	return rec, size, ended
}

func checksum(rec []byte) uint32 {
	return crc32.Checksum(rec, crc32.MakeTable(crc32.Castagnoli))
}
