package nearest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestName(t *testing.T) {
	names := []string{"read_file", "write_file", "edit_file", "todo", "execute_command"}
	for name, want := range map[string]string{
		"readfile": "read_file", "Read_File": "read_file", "execute": "execute_command", "command": "execute_command", "todos": "todo", "xyz": "", "": "",
		strings.Repeat("x", 1<<20): "",
	} {
		if got := Name(name, names); got != want {
			t.Errorf("Name(%.40q) = %q, want %q", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"read_file", "edit_file"}, Alike("red_file", names, 2)); diff != "" {
		t.Error(diff)
	}
}

func TestTypo(t *testing.T) {
	for _, c := range []struct {
		word, name string
		want       bool
	}{
		{"doctor", "doctor", true},
		{"Doctor", "doctor", true},
		{"doctr", "doctor", true},
		{"doctorr", "doctor", true},
		{"dogtor", "doctor", true},
		{"docotr", "doctor", true},
		{"session", "sessions", true},
		{"udno", "undo", true},
		{"do", "doctor", false},
		{"fix", "config", false},
		{"conflict", "config", false},
		{"why", "undo", false},
		{"", "undo", false},
	} {
		if got := Typo(c.word, []string{c.name}); (got == c.name) != c.want {
			t.Errorf("%q and %q: %q", c.word, c.name, got)
		}
	}
}
