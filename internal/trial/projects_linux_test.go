//go:build network && (amd64 || arm64)

package trial_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
	"github.com/bb2d0cf4/agent/internal/trial"
)

// project is a folder of a kind that people work in, with commands that they run there.
type project struct {
	needs    []string // programs and files of this machine
	setup    string
	commands []string // those that must ask begin with "ask: "
	files    map[string]string
}

func readProject(t *testing.T, file string) project {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	needs, _ := strings.CutPrefix(strings.TrimSpace(string(archive.Comment)), "needs:")
	p := project{needs: strings.Fields(needs), files: map[string]string{}}
	for _, f := range archive.Files {
		switch f.Name {
		case "setup":
			p.setup = string(f.Data)
		case "commands":
			p.commands = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		default:
			p.files[f.Name] = string(f.Data)
		}
	}
	return p
}

// counted is the number of commands by what became of them.
type counted struct{ same, asked, differ int }

// TestProjects: commands in projects of many kinds have the same exit status, print the same and change the same files in a
// trial as in the folder; the others ask.
func TestProjects(t *testing.T) {
	files, err := filepath.Glob("testdata/projects/*.txtar")
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	var all counted
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			p := readProject(t, file)
			for _, name := range p.needs {
				if _, err := exec.LookPath(name); err != nil {
					if _, err := os.Stat(name); err != nil {
						t.Skip("this machine has no " + name)
					}
				}
			}
			n := p.compare(t)
			t.Logf("%d the same, %d asked, %d differ", n.same, n.asked, n.differ)
			all.same, all.asked, all.differ = all.same+n.same, all.asked+n.asked, all.differ+n.differ
		})
	}
	total := all.same + all.asked + all.differ
	t.Logf("load: %d commands, %d the same, %d asked, %d differ", total, all.same, all.asked, all.differ)
	if 100*all.same < 95*total {
		t.Error("too few are the same")
	}
}

// compare runs the commands of a project in a trial, and then in the folder.
func (p project) compare(t *testing.T) (n counted) {
	b := newBench(t, p.files)
	b.outsideRun(p.setup)
	b.outsideRun("test -d .git || git init -q .; git add . && " + identity + "commit -qm first")
	for _, line := range p.commands {
		line, mustAsk := strings.CutPrefix(line, "ask: ")
		place := safecmd.Place{Dir: b.dir, Roots: []string{b.dir}, Path: os.Getenv("PATH")}
		judged := place.Judge(line)
		why := place.Untried(judged)
		if judged.Class == safecmd.Safe { // runs in the folder
			why = ""
		}
		if (why != "") != mustAsk {
			t.Errorf("%s: asks because it %q", line, why)
		}
		if why != "" {
			t.Logf("asks: %s: it %s", line, why)
			n.asked++
			continue
		}
		begin := time.Now()
		tried := b.run(line)
		took := time.Since(begin)
		if tried.Withheld != "" {
			t.Logf("asks: %s: it %s", line, tried.Withheld)
			n.asked++
			b.outsideAnyway(line)
			continue
		}
		before := tree(t, b.dir)
		outside := b.outsideAnyway(line)
		switch proposed, done := proposals(tried), changed(before, tree(t, b.dir), b); {
		case tried.ExitCode != outside.ExitCode || alike(tried.Output, b.dir) != alike(outside.Output, b.dir):
			n.differ++
			t.Errorf("%s: exit %d, %.1f s\n%s\nin the folder: exit %d, %.1f s\n%s", line, tried.ExitCode, took.Seconds(), tried.Output, outside.ExitCode, outside.Took.Seconds(), outside.Output)
		case !slices.Equal(proposed, done):
			n.differ++
			t.Errorf("%s: proposes %q, and changes %q", line, proposed, done)
		default:
			n.same++
			t.Logf("same: %s (%.2f s, in the folder %.2f s)", line, took.Seconds(), outside.Took.Seconds())
		}
	}
	return n
}

// outsideAnyway runs a line in the folder itself, whatever its exit code is.
func (b *bench) outsideAnyway(line string) shell.Result {
	b.t.Helper()
	out, err := b.jobs.Run(b.t.Context(), shell.Options{Line: line, Dir: b.dir, Timeout: 10 * time.Minute})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// proposals returns the names of the files that a trial proposes to change.
func proposals(out *trial.Outcome) (names []string) {
	for _, c := range out.Changes {
		names = append(names, c.Name)
		if c.Moves() {
			names = append(names, c.ToName)
		}
	}
	slices.Sort(names)
	return names
}

// changed returns the names of the files that git does not ignore and that have changed.
func changed(before, after map[string]string, b *bench) (names []string) {
	for name, text := range after {
		if before[name] != text && !strings.HasPrefix(text, "d") {
			names = append(names, name)
		}
	}
	for name, text := range before {
		if _, ok := after[name]; !ok && !strings.HasPrefix(text, "d") {
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return strings.Contains("/"+name, "/.git/") || exec.CommandContext(b.t.Context(), "git", "-C", b.dir, "check-ignore", "-q", "--no-index", name).Run() == nil
	})
	slices.Sort(names)
	return names
}

// The parts of outputs that differ between two runs of a command anyway.
var (
	varying = regexp.MustCompile(`(?i)duration_ms:? [\d.]+|\b\d+:\d\d:\d\d( [AP]M)?|\b\d+(\.\d+)?\s?(ns/op|ns|µs|us|ms|seconds?|secs?|s|m|MB/s)\b|\(cached\)|-[0-9a-f]{16}\b|\b\d{4}-\d\d-\d\d[T ][\d:]+(Z|[+-]\d+)?|\b\d\d:\d\d:\d\d\b|0x[0-9a-f]+|/tmp/[\w./-]+|(port|pid)\s*\d+|thread '\w+' \(\d+\)|\b\d{4,}\b`)
	slow    = regexp.MustCompile(`(?m) \(\d+ms\)$`) // of some tests only, if they were slow
	spaces  = regexp.MustCompile(`[ \t]+`)
)

// alike returns an output without what differs anyway, its lines in order of the alphabet.
func alike(output, dir string) string {
	text := slow.ReplaceAllString(strings.ReplaceAll(output, dir, "DIR"), "")
	text = spaces.ReplaceAllString(varying.ReplaceAllString(text, "N"), " ")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
