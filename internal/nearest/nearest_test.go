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
