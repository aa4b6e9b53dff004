// Package edit computes the new text of a file from what a model sent: a
// replacement, a range of lines, a pattern or a patch. It guarantees that the
// bytes outside of what was matched stay identical, that a text that could be
// meant in several places is never chosen silently, that whatever matched less
// than exactly is reported as such, and that a failure says what to send
// instead. It touches no file.
package edit
