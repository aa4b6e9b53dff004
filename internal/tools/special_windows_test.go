package tools

import "testing"

// specialFiles makes nothing: the files of Windows are regular ones.
func specialFiles(*testing.T, string) map[string]string { return map[string]string{} }
