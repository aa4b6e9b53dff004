package workspace

import (
	"crypto/sha256"
	"strings"
	"sync"
)

// past remembers which texts the disk has held, by the path of the file.
type past struct {
	mu    sync.Mutex
	texts map[string]map[Hash]bool
}

func (p *past) add(path string, sums ...Hash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.texts == nil {
		p.texts = map[string]map[Hash]bool{}
	}
	if p.texts[path] == nil {
		p.texts[path] = map[Hash]bool{}
	}
	for _, sum := range sums {
		p.texts[path][sum] = true
	}
}

// has reports whether the disk held the text, whatever its line endings and the last of them.
func (p *past) has(path, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.texts[path] == nil {
		return false
	}
	plain := plainLines(text)
	for _, t := range []string{plain, plain + "\n", strings.TrimSuffix(plain, "\n")} {
		if p.texts[path][sha256.Sum256([]byte(t))] || p.texts[path][sha256.Sum256([]byte(withLines(t, "\r\n")))] {
			return true
		}
	}
	return p.texts[path][sha256.Sum256([]byte(text))]
}

// saw remembers the content of a file on disk, if a host may show it later.
func (r *Root) saw(path string, data []byte) {
	if r.host.Buffer == nil {
		return
	}
	r.past.add(path, sha256.Sum256(data))
	if text := string(data); strings.Contains(text, "\r") { // its endings may be mixed
		r.past.add(path, sha256.Sum256([]byte(plainLines(text))))
	}
}

// plainLines returns a text with the line ending "\n". A host that takes "\r" for a part of the
// line writes "\r\r\n".
func plainLines(s string) string {
	for strings.Contains(s, "\r\r\n") {
		s = strings.ReplaceAll(s, "\r\r\n", "\r\n")
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// withLines returns a plain text with another line ending.
func withLines(plain, eol string) string { return strings.ReplaceAll(plain, "\n", eol) }

// SameLines reports whether two texts differ in line endings only, or in the last one: hosts
// that hold lines do not know whether the last one ends.
func SameLines(a, b string) bool {
	a, b = plainLines(a), plainLines(b)
	return a == b || a+"\n" == b || a == b+"\n"
}

// likeSaved gives a host's text the line endings of the file on disk, and its last one.
func likeSaved(held, saved string, f Format) string {
	plain := plainLines(held)
	if strings.HasSuffix(plainLines(saved), "\n") && plain != "" && !strings.HasSuffix(plain, "\n") {
		held, plain = held+f.EOL, plain+"\n"
	}
	if withLines(plainLines(saved), f.EOL) != saved { // mixed ones are the host's business
		return held
	}
	return withLines(plain, f.EOL)
}
