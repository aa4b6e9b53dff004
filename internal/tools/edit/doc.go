// Package edit computes the new text of a file from a model's input: a replacement, a
// range of lines, a pattern or a patch. It guarantees that bytes outside the match stay
// identical, that it never chooses silently among several places, that an inexact match
// is reported as such, and that an error tells the model what to send instead. It touches
// no file.
package edit
