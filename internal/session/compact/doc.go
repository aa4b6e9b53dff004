// Package compact makes room in a model's context. It chooses the messages of a
// conversation that stay, and writes a text that replaces the others. It guarantees
// that this text has the list of changes, commands and refusals, the pinned messages
// and the current prompt word for word, never in a model's words. Parts that do not fit
// are marked, and the text names a file with the full text.
package compact
