package cli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/session"
)

const changing = `
turns:
  - when: {prompt_contains: change}
    text: I change it.
    calls: [{tool: edit_file, args: {path: a.txt, old_string: one, new_string: two}}]
  - when: {prompt_contains: change}
    text: Changed.
  - text: Hello.
`

// scripted returns the opening of a session with a scripted model.
func scripted(t *testing.T) app.Options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\n", "script.yaml": changing} {
		scratch.Write(t, filepath.Join(dir, name), text)
	}
	cfg, err := config.LoadFrom(filepath.Join(t.TempDir(), "home"), config.Overrides{
		"model": "script:" + filepath.Join(dir, "script.yaml"), "permission_mode": "default",
	})
	if err != nil {
		t.Fatal(err)
	}
	o, err := app.Prepare(t.Context(), setup.New(cfg), app.Choice{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// sitting returns a session with a scripted model.
func sitting(t *testing.T) *app.App {
	t.Helper()
	a, err := Process{}.open(scripted(t))
	if err != nil {
		t.Fatal(err)
	}
	a.Attach(app.Face{Emit: func(session.Event) {}})
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestGarbageOfPlainLines: a session in plain lines collects garbage as usual.
func TestGarbageOfPlainLines(t *testing.T) {
	const rarely = 1000
	before := debug.SetGCPercent(rarely)
	defer debug.SetGCPercent(before)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := interactPlain(t.Context(), Process{Stdin: scratch.Input(t, "hi\n"), Stdout: out}, opening{Options: scripted(t)}); err != nil {
		t.Fatal(err)
	}
	if said := scratch.Read(t, out.Name()); debug.SetGCPercent(before) == rarely || !strings.Contains(said, "Hello.") {
		t.Errorf("collections stay rare after %s", said)
	}
}

func TestModes(t *testing.T) {
	a := sitting(t)
	if a.Status().Mode != "default" || a.NextMode() != "accept-edits" || a.Status().Mode != "accept-edits" {
		t.Errorf("mode %s", a.Status().Mode)
	}
}

func TestStatus(t *testing.T) {
	a := sitting(t)
	if st := a.Status(); st.Model != a.Info().Name || st.Editor != "" {
		t.Errorf("%+v", st)
	}
}
