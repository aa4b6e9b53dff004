//go:build unix

package effects_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// other is another process that writes to the workspace.
type other struct {
	w   *world
	in  io.Writer
	out *bufio.Scanner
	n   int
}

func newOther(w *world) *other {
	w.T.Helper()
	cmd := exec.Command("bash", "-c", `while read -r n f; do { [ -d "$f" ] || [ -L "$f" ] || echo "theirs $n" > "$f"; } 2>/dev/null; echo; done`)
	cmd.Dir = w.Dir()
	in, err := cmd.StdinPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			w.T.Error(err)
		}
	})
	return &other{w: w, in: in, out: bufio.NewScanner(out)}
}

// write writes a new content to a file, if it is one and its folder exists.
func (o *other) write(name string) error {
	o.n++
	if _, err := fmt.Fprintln(o.in, o.n, name); err != nil {
		return err
	}
	if !o.out.Scan() {
		return errors.New("the other process ended")
	}
	return nil
}

// some writes to up to three files.
func (o *other) some() {
	o.w.T.Helper()
	for range o.w.rng.IntN(4) {
		name := files[o.w.rng.IntN(len(files))]
		if o.w.rng.IntN(2) == 0 {
			name = fmt.Sprint("theirs", o.w.rng.IntN(3))
		}
		if err := o.write(name); err != nil {
			o.w.T.Fatal(err)
		}
	}
}

// during writes new files until stop is called.
func (o *other) during() (stop func()) {
	end, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-end:
				ended <- nil
				return
			default:
			}
			if err := o.write(fmt.Sprint("late", i%5)); err != nil {
				ended <- err
				return
			}
		}
	}()
	return func() {
		o.w.T.Helper()
		close(end)
		if err := <-ended; err != nil {
			o.w.T.Fatal(err)
		}
	}
}

// takeBack undoes the last command, as far as that is possible.
func (w *world) takeBack() undo.Plan {
	w.T.Helper()
	plan, err := undo.Find(w.T.Context(), w.Root, undo.Scope{})
	if err == nil {
		err = plan.Do(w.T.Context())
	}
	if err != nil && !errors.Is(err, workspace.ErrStale) {
		w.T.Fatal(err)
	}
	return plan
}

// TestOthersKeepTheirChanges: while another process writes, an undo takes back a command
// and leaves the other's later changes alone, of the same files too, which it names.
func TestOthersKeepTheirChanges(t *testing.T) {
	seed := stress.Seed(t)
	rounds, refused := 40, 0
	if os.Getenv("AGENT_TEST_FULL") != "" {
		rounds = 1000
	}
	w := newWorld(t, seed)
	w.fill()
	o := newOther(w)
	for i := range rounds {
		o.some() // between the commands
		before := w.state()
		line := w.command()
		run := w.start(line, false)
		stop := o.during()
		w.sh("{ " + line + "; } || true") // the other may be in its way
		stop()
		report := run.End(t.Context())
		after := w.state()
		if cmp.Equal(before, after) {
			continue
		}
		o.some()
		met := w.state()
		plan := w.takeBack()
		for _, r := range plan.Refused {
			if refused++; !strings.Contains(r.Err.Error(), " ") {
				t.Errorf("%s: %v", r.Name, r.Err)
			}
		}
		check := afterUndo{before, after, met, w.state(), plan}
		if wrong := check.wrong(); wrong != "" || report.Err != nil {
			t.Fatalf("seed %d, %d %s: %s %v", seed, i, line, wrong, report.Err)
		}
	}
	t.Logf("seed %d: %d commands, %d paths refused", seed, rounds, refused)
}

// afterUndo is a command's undo: the states before and after the command, before and after
// the undo.
type afterUndo struct {
	before, after, met, now map[string]string
	plan                    undo.Plan
}

// wrong returns the first path that the undo should have left as it is, or restored.
func (u afterUndo) wrong() string {
	paths := map[string]bool{}
	for _, state := range []map[string]string{u.before, u.after, u.met, u.now} {
		for path := range state {
			paths[path] = true
		}
	}
	for path := range paths {
		theirs, ours := u.met[path] != u.after[path], u.before[path] != u.after[path]
		switch {
		case theirs && u.now[path] != u.met[path]:
			return fmt.Sprintf("%s was changed by another process and is lost: %q, now %q", path, u.met[path], u.now[path])
		case theirs && ours && !u.refused(path):
			return path + " was changed by both, and the undo does not say so"
		case !theirs && u.now[path] != u.before[path] && !u.refused(path) && !u.holdsTheirs(path):
			return fmt.Sprintf("%s was %q and is %q", path, u.before[path], u.now[path])
		}
	}
	return ""
}

func (u afterUndo) refused(path string) bool {
	for _, r := range u.plan.Refused {
		if "/"+r.Name == path {
			return true
		}
	}
	return false
}

// holdsTheirs reports whether something that the undo leaves alone is in the folder at path.
func (u afterUndo) holdsTheirs(path string) bool {
	for other := range u.now {
		if strings.HasPrefix(other, path+"/") && (u.met[other] != u.after[other] || u.refused(other)) {
			return true
		}
	}
	return false
}
