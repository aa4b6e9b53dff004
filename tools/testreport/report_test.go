package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func lines(events ...string) string { return strings.Join(events, "\n") + "\n" }

const (
	started = `{"Action":"start","Package":"p"}`
	pkgOK   = `{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}`
	pkgPass = `{"Action":"pass","Package":"p"}`
)

func TestReport(t *testing.T) {
	for _, c := range []struct {
		name, in string
		strict   bool
		want     string // in the output
		wantErr  string
	}{
		{
			name: "passes", want: "ok  \tp\t0.1s\n1 packages, 1 tests passed",
			in: lines(started, `{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA"}`, pkgOK, pkgPass),
		},
		{
			name: "failure shows its output", want: "why it failed\n", wantErr: "1 packages failed",
			in: lines(started, `{"Action":"output","Package":"p","Test":"TestA","Output":"why it failed\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`, `{"Action":"fail","Package":"p"}`),
		},
		{
			name: "crash shows what was said", want: "panic: oh\n", wantErr: "1 packages failed",
			in: lines(started, `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: oh\n"}`,
				`{"Action":"fail","Package":"p"}`),
		},
		{name: "skip is named", want: "skipped: p.TestA\n", in: skip()},
		{name: "skip fails under CI", strict: true, want: "1 skipped", wantErr: "1 tests were skipped", in: skip()},
		{name: "cut off", in: lines(started), wantErr: "no package"},
		{
			name: "package without end", wantErr: "1 packages did not end",
			in: lines(started, pkgPass, `{"Action":"start","Package":"q"}`),
		},
		{name: "build error", want: "x.go:1: oh\n", wantErr: "no package", in: lines(`{"Action":"build-output","ImportPath":"p","Output":"x.go:1: oh\n"}`)},
		{
			name: "load is shown", want: "    TestA load: 5 kills, seed 7\n",
			in: lines(started, `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:9: load: 5 kills, seed 7\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA"}`, pkgOK, pkgPass),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			rep := newReport(&out)
			if err := rep.read(strings.NewReader(c.in)); err != nil {
				t.Fatal(err)
			}
			err := rep.close(c.strict)
			if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("error %v, want %q", err, c.wantErr)
			}
			if !strings.Contains(out.String(), c.want) {
				t.Errorf("output %q lacks %q", out.String(), c.want)
			}
		})
	}
}

func skip() string {
	return lines(started, `{"Action":"skip","Package":"p","Test":"TestA"}`, pkgOK, pkgPass)
}

func TestReadRefusesNoise(t *testing.T) {
	var out strings.Builder
	if err := newReport(&out).read(strings.NewReader("not json")); err == nil {
		t.Error("no error")
	}
}

// TestRun lets the go command test two small modules.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, body, ci, wantErr string
	}{
		{"passes", "", "true", ""},
		{"fails", `t.Error("oh")`, "", "1 packages failed"},
		{"skips under CI", `t.Skip("no")`, "true", "1 tests were skipped"},
		{"does not compile", "nonsense", "", "1 packages failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"go.mod":    "module m\n\ngo 1.26\n",
				"a_test.go": "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { " + c.body + " }\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			t.Setenv("CI", c.ci)
			err := run([]string{"-events", "events", "./..."})
			if kept, readErr := os.ReadFile("events"); readErr != nil || !strings.Contains(string(kept), `"Action"`) {
				t.Errorf("events %q, %v", kept, readErr)
			}
			if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("%v, want %q", err, c.wantErr)
			}
		})
	}
}

// Exceptions fail, alone or with their parts; each other failure fails the run.
func TestExceptions(t *testing.T) {
	fails := func(test string) string { return `{"Action":"fail","Package":"m/p","Test":"` + test + `"}` }
	const pass, begins, pkgFails = `{"Action":"pass","Package":"m/p","Test":"TestA"}`, `{"Action":"start","Package":"m/p"}`, `{"Action":"fail","Package":"m/p"}`
	for _, c := range []struct{ name, in, wantErr string }{
		{"fails", lines(begins, fails("TestA/x"), fails("TestA"), pkgFails), ""},
		{"passes", lines(begins, pass, `{"Action":"pass","Package":"m/p"}`), "did not fail: p TestA"},
		{"is gone", lines(begins, `{"Action":"pass","Package":"m/p"}`), "did not fail: p TestA"},
		{"beside another failure", lines(begins, fails("TestA"), fails("TestB"), pkgFails), "1 packages failed"},
		{"is of another package", lines(`{"Action":"start","Package":"m/q"}`, `{"Action":"fail","Package":"m/q","Test":"TestA"}`, `{"Action":"fail","Package":"m/q"}`), "1 packages failed"},
		{
			"beside a crash", lines(begins, fails("TestA"), `{"Action":"output","Package":"m/p","Test":"TestB","Output":"panic: oh\n"}`, pkgFails),
			"1 packages failed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(name, []byte("# Of a system.\n\np TestA: it has no links\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			except, err := readExceptions(name)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			rep := newReport(&out)
			rep.except = except
			if err := rep.read(strings.NewReader(c.in)); err != nil {
				t.Fatal(err)
			}
			if err := rep.close(false); (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("error %v, want %q", err, c.wantErr)
			}
			if c.name == "fails" && !strings.Contains(out.String(), "excepted: p TestA: it has no links\n") {
				t.Errorf("%q", out.String())
			}
		})
	}
}

func TestExceptionsThatAreNone(t *testing.T) {
	for _, text := range []string{"p TestA", "p: no test", "p TestA: x\np TestA: y", "p TestA: "} {
		name := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if e, err := readExceptions(name); err == nil {
			t.Errorf("%q: %v", text, e.reasons)
		}
	}
}

// TestExceptionAlone: a run whose only failure is an exception passes.
func TestExceptionAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module m\n\ngo 1.26\n",
		"p/a_test.go": "package p\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Error() }\n",
		"except":      "p TestA: it fails\n",
	} {
		scratch.Write(t, filepath.Join(dir, name), text)
	}
	t.Chdir(dir)
	t.Setenv("CI", "")
	if err := run([]string{"-except", "except", "./..."}); err != nil {
		t.Error(err)
	}
}
