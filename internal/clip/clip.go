// Package clip shortens texts for a place that has a limit. It cuts between characters, and
// shows that it has cut. It makes nothing safe to print: see sanitize.
package clip

import "strings"

// Bytes returns s, or its first limit bytes and mark.
func Bytes(s string, limit int, mark string) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + mark
}

// Runes returns s, or so much of it that it has limit characters with "…" at its end.
func Runes(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// Line returns s on one line, with one blank for each run of them.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }
