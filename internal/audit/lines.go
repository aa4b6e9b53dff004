package audit

import (
	"bufio"
	"errors"
	"io"
)

// lines reads complete lines; an unfinished last one is left out.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) lines { return lines{bufio.NewReader(r)} }

var errLong = errors.New("a line is too long for an entry")

// next returns the next line without its newline, or io.EOF.
func (l lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case len(line) > maxLine:
			return nil, errLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
