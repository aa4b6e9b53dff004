package client

import (
	"context"
	"errors"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
)

// Bounds of the wait for a file's encoding: for the reader of the file, and in all. The editor is
// asked only if the bytes do not show it, and another encoding would make another text of them: an
// editor that is busy for seconds is waited for.
const (
	naming     = 4 * time.Second
	namingLate = 5 * time.Second
)

// mostNames is how many files may wait for their encoding. An editor that does not
// answer delays that many reads, and no others.
const mostNames = 16

// Encodings asks the editor for encodings on behalf of callers that cannot wait.
type Encodings struct {
	d      *Documents
	wanted chan nameless
}

// nameless is a file whose encoding is being asked for.
type nameless struct {
	path string
	told chan string
}

// NewEncodings returns an Encodings that works while Run runs.
func NewEncodings(c *Client) *Encodings {
	return &Encodings{d: c.Documents, wanted: make(chan nameless, mostNames)}
}

// Of returns the encoding of a file, see Documents.Encoding, or "" if the editor does
// not answer soon.
func (e *Encodings) Of(path string) string {
	q := nameless{path, make(chan string, 1)}
	select {
	case e.wanted <- q:
	default:
		return ""
	}
	late := time.NewTimer(naming)
	defer late.Stop()
	select {
	case name := <-q.told:
		return name
	case <-late.C:
		return ""
	}
}

// Run asks on behalf of Of until the connection or ctx ends.
func (e *Encodings) Run(ctx context.Context) {
	for {
		select {
		case q := <-e.wanted:
			asking, cancel := context.WithTimeout(ctx, namingLate)
			name, err := e.d.Encoding(asking, q.path)
			cancel()
			if err != nil {
				name = ""
			}
			q.told <- name
		case <-e.d.c.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// Encoding returns the name, as golang.org/x/text knows it, of the encoding in which
// the editor reads a file. It is empty if the editor does not report it, or its name is
// unknown.
func (d *Documents) Encoding(ctx context.Context, path string) (string, error) {
	if !d.c.Info().Ours {
		return "", ErrUnsupported
	}
	a, err := d.c.call(ctx, "checkDocumentDirty", map[string]any{"filePath": path})
	var refused *ToolError
	if errors.As(err, &refused) && !refused.unsupported {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var told struct {
		Encoding string `json:"encoding"`
	}
	if strict.Unmarshal([]byte(a.first()), &told) != nil {
		return "", &ToolError{Message: "its answer cannot be read"}
	}
	return encodingOf(told.Encoding), nil
}

// encodings maps VS Code's names that differ by more than a hyphen. UTF-8 is no answer
// about a file whose bytes are not UTF-8: the setting knows better.
var encodings = map[string]string{
	"utf8": "", "utf8bom": "", "utf16le": "utf-16le", "utf16be": "utf-16be",
	"shiftjis": "shift_jis", "eucjp": "euc-jp", "euckr": "euc-kr", "cp950": "big5", "big5hkscs": "big5",
	"gb2312": "gbk", "macroman": "macintosh", "koi8r": "koi8-r", "koi8u": "koi8-u", "cp866": "ibm866",
}

// encodingOf translates VS Code's name of an encoding, reduced to letters and digits.
func encodingOf(name string) string {
	if known, ok := encodings[name]; ok {
		return known
	}
	for before, after := range map[string]string{"utf": "utf-", "windows": "windows-", "iso8859": "iso-8859-"} {
		if number, ok := strings.CutPrefix(name, before); ok && number != "" {
			return after + number
		}
	}
	return name
}
