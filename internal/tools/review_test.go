package tools

import (
	"strings"
	"testing"
)

func TestReadNotes(t *testing.T) {
	for path, want := range map[string]bool{
		"/u/.ssh/id_ed25519": true, "/u/.SSH": true, "/u/.aws/credentials": true, "/u/.netrc": true, "/p/.env.local": true,
		"/p/server.key": true, "/u/.agent/config.yaml": true, "/etc/shadow": true, "/etc/hosts": false, "/usr/include/x.h": false,
	} {
		notes, force := (Deps{}).readNotes(path, false)
		if force != want || (len(notes) == 1) != want {
			t.Errorf("%s: %q, %v", path, notes, force)
		}
	}
	if notes, force := (Deps{}).readNotes("/usr/include", true); force || len(notes) != 1 || !strings.Contains(notes[0].Text, "everything in it may be read") {
		t.Errorf("a folder: %q, %v", notes, force)
	}
}
