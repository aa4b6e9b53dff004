package jobcontrol

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// terminal records calls.
type terminal struct {
	did   []string
	fails map[string]error
}

func (l *terminal) Suspend() error {
	l.did = append(l.did, "given")
	return l.fails["given"]
}

func (l *terminal) Resume() error {
	l.did = append(l.did, "taken")
	return l.fails["taken"]
}

func TestTheTerminalComesBack(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		cmd   *exec.Cmd
		fails map[string]error
		did   []string
		fail  bool
	}{
		"it ends":             {exec.Command(os.Args[0], "-test.run=^$"), nil, []string{"given", "taken"}, false},
		"it fails":            {exec.Command(os.Args[0], "-test.nosuchflag"), nil, []string{"given", "taken"}, true},
		"it is not there":     {exec.Command(filepath.Join(t.TempDir(), "nothing")), nil, []string{"given", "taken"}, true},
		"it is not given":     {exec.Command(os.Args[0], "-test.run=^$"), map[string]error{"given": broken}, []string{"given"}, true},
		"it is not taken":     {exec.Command(os.Args[0], "-test.run=^$"), map[string]error{"taken": broken}, []string{"given", "taken"}, true},
		"neither it nor back": {exec.Command(os.Args[0], "-test.nosuchflag"), map[string]error{"taken": broken}, []string{"given", "taken"}, true},
	} {
		term := &terminal{fails: c.fails}
		err := Exec(c.cmd, nil, out, term).Run()
		if d := cmp.Diff(c.did, term.did); d != "" || (err != nil) != c.fail {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}
