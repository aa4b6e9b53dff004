package theme

import "strings"

// Bar draws part of whole as a bar of width columns. A part above zero is visible.
func Bar(part, whole int64, width int) string {
	eighths := int(part * int64(width) * 8 / whole)
	if part > 0 {
		eighths = max(eighths, 1)
	}
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s + strings.Repeat("░", width-(eighths+7)/8)
}
