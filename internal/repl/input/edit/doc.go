// Package edit is the text at the prompt: a buffer of glyphs with undo, redo, a kill ring and
// a layout in rows. It guarantees that the cursor stays in the text and never inside a
// grapheme cluster, that a paste of any size is one glyph and arrives whole, and that the
// drawn text contains no control characters.
package edit
