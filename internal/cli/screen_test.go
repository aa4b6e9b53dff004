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

// sitting puts the whole program together around a scripted model.
func sitting(t *testing.T) *screenFace {
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
	f := &flags{dir: dir}
	m, _, err := choose(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := openStore(cfg, f, m.Ref)
	if err != nil {
		t.Fatal(err)
	}
	s := &screenFace{}
	s.app, err = wire(cfg, f, pl, m, app.Face{Emit: func(session.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.app.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *screenFace) say(t *testing.T, prompt string) {
	t.Helper()
	if err := s.app.Run(t.Context(), prompt); err != nil {
		t.Fatal(err)
	}
}

func TestModes(t *testing.T) {
	s := sitting(t)
	m := modes{s}
	if m.Current() != "default" || m.Next() != "accept-edits" || m.Current() != "accept-edits" {
		t.Errorf("mode %s", m.Current())
	}
}

func TestStatus(t *testing.T) {
	s := sitting(t)
	if st := s.status(); st.Model != s.app.Info().Name || st.Editor != "" {
		t.Errorf("%+v", st)
	}
}
