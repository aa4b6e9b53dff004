package jsonrpc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
)

// Framing separates the messages of a stream.
type Framing interface {
	// read returns the next message, nil for one that is too long.
	read(r *bufio.Reader) ([]byte, error)
	// frame returns a message as it is written. It may change data.
	frame(data []byte) []byte
}

// Lines has a message in each line.
type Lines struct{}

func (Lines) read(r *bufio.Reader) ([]byte, error) {
	line, long := []byte{}, false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessage; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (Lines) frame(data []byte) []byte { return append(data, '\n') }

// Headers has a header with the length before each message, as the Language Server Protocol does.
type Headers struct{}

const (
	lengthHeader = "Content-Length"
	maxHeader    = 4 << 10 // bytes
)

func (Headers) read(r *bufio.Reader) ([]byte, error) {
	length, size := int64(-1), 0
	for {
		part, err := r.ReadSlice('\n')
		if size += len(part); err == nil && size > maxHeader || errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("a header has more than %d bytes", maxHeader)
		}
		if err != nil {
			return nil, err
		}
		line := strings.TrimRight(string(part), "\r\n")
		if line == "" && length >= 0 {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		switch {
		case line == "": // a stray empty line
		case !ok:
			return nil, fmt.Errorf("%.80q is no header", line)
		case textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)) == lengthHeader:
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || length < 0 {
				return nil, fmt.Errorf("%.80q is no length", value)
			}
		}
	}
	if length > maxMessage {
		_, err := io.CopyN(io.Discard, r, length)
		return nil, err
	}
	data := make([]byte, length)
	_, err := io.ReadFull(r, data)
	return data, err
}

func (Headers) frame(data []byte) []byte {
	return append(fmt.Appendf(nil, "%s: %d\r\n\r\n", lengthHeader, len(data)), data...)
}
