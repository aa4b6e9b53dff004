package tools

import "testing"

// specialFiles makes nothing: Windows has only regular files.
func specialFiles(*testing.T, string) map[string]string { return map[string]string{} }
