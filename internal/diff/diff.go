// Package diff compares texts line by line and word by word. It guarantees that applying
// its edits to the old text gives the new one byte for byte, that git apply and patch
// accept its unified form, and that its cost is O(n log n) in the size of the texts,
// whatever their content.
package diff

// Op is the kind of a line of a hunk.
type Op int8

// The kinds of line.
const (
	Equal Op = iota
	Delete
	Insert
)

// Edit replaces the lines A[AStart:AEnd] of the old text by the lines
// B[BStart:BEnd] of the new one. Indexes are 0-based.
type Edit struct{ AStart, AEnd, BStart, BEnd int }

// Diff is the difference between two texts. A and B are their lines, each with its line
// ending (the last may have none). Edits are in order and not adjacent, and empty if
// the texts are equal.
type Diff struct {
	A, B  []string
	Edits []Edit
}

// Hunk is a group of edits with the lines around them.
type Hunk struct {
	AStart, ACount int // AStart is 0-based: the first line of A in the hunk
	BStart, BCount int
	First, Last    int // its edits are Diff.Edits[First:Last]
	Lines          []Line
}

// Line is one line of a hunk. A and B are its 1-based numbers in the old and the new
// text, 0 if it is not in that text.
type Line struct {
	Op   Op
	Text string // with its line ending
	A, B int
}

// Span is a half-open range of bytes in a line.
type Span struct{ Start, End int }

// Class is the kind of difference between two texts.
type Class struct {
	// LineEndings is true if only line endings (CRLF or LF) changed.
	LineEndings bool
	// Whitespace is true if only white space changed, including line endings.
	Whitespace bool
	// FinalNewline is +1 if the new text gained a newline at its end, -1 if it
	// lost one.
	FinalNewline int
}
