// Package diff compares texts line by line and word by word. It guarantees that
// applying its edits to the old text gives the new one byte for byte, that its
// unified form is taken by git apply and patch, and that its cost is
// O(n log n) in the size of the texts, whatever they hold.
package diff

// Op says what a line of a hunk is.
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

// Diff is the difference between two texts. A and B are their lines, each with
// its line ending as in the text (the last may have none). Edits are in order
// and do not touch each other; there is none if the texts are equal.
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

// Line is one line of a hunk. A and B are its 1-based numbers in the old and
// the new text; 0 where it is not in that text.
type Line struct {
	Op   Op
	Text string // with its line ending
	A, B int
}

// Span is a half-open range of bytes in a line.
type Span struct{ Start, End int }

// Class says what kind of change two texts differ by.
type Class struct {
	// LineEndings is true if nothing but line endings (CRLF or LF) changed.
	LineEndings bool
	// Whitespace is true if nothing but white space changed, line endings
	// included.
	Whitespace bool
	// FinalNewline is +1 if the new text gained a newline at its end, -1 if it
	// lost one.
	FinalNewline int
}
