// Package home stores the small files in the agent's own folder: the history of
// prompts, long outputs of commands, and proposals that are being edited. It guarantees
// that each is private to the user and bounded.
package home
