package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/script"
)

func written(t *testing.T) Place {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	p, err := Write()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// goTest runs the project's tests as the demo does.
func goTest(t *testing.T, p Place) (string, error) {
	t.Helper()
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir, cmd.Env = p.Project, Env(os.Environ())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The project is complete, its test fails, and the script's change repairs it.
func TestTheChangeRepairsTheProject(t *testing.T) {
	scratch.Need(t, "go")
	p := written(t)
	if out, err := goTest(t, p); err == nil || !strings.Contains(out, "Of([4 1 3 2]) = 3, want 2.5") {
		t.Fatalf("before the change: %v\n%s", err, out)
	}
	file := filepath.Join(p.Project, "median.go")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after := proposed(t, p)
	if strings.Count(string(data), before) != 1 {
		t.Fatalf("%q is not in\n%s", before, data)
	}
	scratch.Write(t, file, strings.Replace(string(data), before, after, 1))
	if out, err := goTest(t, p); err != nil || !strings.Contains(out, "ok  \texample.com/median") {
		t.Fatalf("after the change: %v\n%s", err, out)
	}
	cmd := exec.Command("gofmt", "-l", p.Project)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("gofmt: %v %s", err, out)
	}
}

func TestEveryDemoIsFresh(t *testing.T) {
	a, b := written(t), written(t)
	if a.Base == b.Base {
		t.Error("two demos share a folder")
	}
	if _, err := script.Load(a.Script); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(a.Home); !os.IsNotExist(err) {
		t.Errorf("the home is there already: %v", err)
	}
}

func TestWriteReportsAFolderThatCannotBeMade(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // the last two are those of Windows
		t.Setenv(name, missing)
	}
	if _, err := Write(); err == nil {
		t.Error("no error")
	}
}

// proposed returns the old and new text of the script's edit.
func proposed(t *testing.T, p Place) (before, after string) {
	t.Helper()
	data, err := os.ReadFile(p.Script)
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Turns []struct {
			Calls []struct {
				Tool string
				Args map[string]any
			}
		}
	}
	if err := yaml.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	for _, turn := range raw.Turns {
		for _, c := range turn.Calls {
			if c.Tool == "edit_file" {
				before, _ = c.Args["old_string"].(string)
				after, _ = c.Args["new_string"].(string)
			}
		}
	}
	if before == "" || after == "" {
		t.Fatal("the script holds no edit")
	}
	return before, after
}
