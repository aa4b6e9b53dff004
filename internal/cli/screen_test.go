package cli

import (
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app"
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

// sitting returns a session with a scripted model.
func sitting(t *testing.T) *app.App {
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
	o, err := newOpening(t.Context(), &flags{dir: dir}, setup{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	a, err := o.session(Process{})
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

func TestModes(t *testing.T) {
	m := modes{sitting(t)}
	if m.Current() != "default" || m.Next() != "accept-edits" || m.Current() != "accept-edits" {
		t.Errorf("mode %s", m.Current())
	}
}

func TestStatus(t *testing.T) {
	a := sitting(t)
	if st := statusOf(a); st.Model != a.Info().Name || st.Editor != "" {
		t.Errorf("%+v", st)
	}
}
