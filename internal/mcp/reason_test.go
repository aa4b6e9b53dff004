package mcp

import (
	"path/filepath"
	"testing"
)

// TestTheReasonIsFound: the reason for the end of a program need not be its last line.
func TestTheReasonIsFound(t *testing.T) {
	for name, c := range map[string]struct{ said, want string }{
		"node": {
			"node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/x/y.js'\n    at Module._resolveFilename (node:internal)\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v22.1.0\n",
			"Error: Cannot find module '/x/y.js'",
		},
		"npm": {
			"npm error code E404\nnpm error 404 Not Found - GET https://registry.example/x - Not found\nnpm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log\n",
			"npm error 404 Not Found - GET https://registry.example/x - Not found",
		},
		"python": {"Traceback (most recent call last):\n  File \"x.py\", line 1\nModuleNotFoundError: No module named 'mcp'\n", "ModuleNotFoundError: No module named 'mcp'"},
		"go":     {"2026/01/02 starting\npanic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:3\nexit status 2\n", "panic: runtime error: index out of range"},
		"shell":  {"sh: 1: uvx: not found\n", "sh: 1: uvx: not found"},
		"words":  {"hello\n\x1b[31mno license for this\x1b[m\n\n", "no license for this"},
		"none":   {"", ""},
	} {
		l, err := newLog(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = l.Write([]byte(c.said)) // it never fails
		if got := l.reason(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}
}
