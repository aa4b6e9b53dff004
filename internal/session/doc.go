// Package session runs conversations: it owns the transcript, asks the model,
// runs the tools and stores each record before the next step. It guarantees
// that every tool call has exactly one result before anything else is appended
// (cancel, crash, denial and panic included), so that a session can always be
// continued.
package session
