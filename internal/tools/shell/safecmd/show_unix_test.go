//go:build unix

package safecmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// versionsOf returns a repository with keys in old versions of files, and what runs a program in it.
// The tags are: plain, before any keys; keys, with them; renamed, where their file has another name; gone, without.
func versionsOf(t *testing.T) (Place, func(name string, args ...string) string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := Place{Dir: dir, Roots: []string{dir}, Path: os.Getenv("PATH"), Env: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")}
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, slices.Concat(p.Env, programs.Env)
		out, _ := cmd.CombinedOutput() // some fail
		return string(out)
	}
	commit := func(tag string) {
		run("git", "add", "-A")
		run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first "+tag)
		run("git", "tag", tag)
	}
	run("git", "init", "-q", "-b", "main")
	scratch.Write(t, filepath.Join(dir, "a.txt"), "one\n")
	scratch.Write(t, filepath.Join(dir, "sub/b.txt"), "plain\n")
	commit("plain")
	scratch.Write(t, filepath.Join(dir, "a.txt"), "one\ntwo\n")
	commit("more")
	scratch.Write(t, filepath.Join(dir, "sub/.env"), "KEY=hidden\n1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	commit("keys")
	run("git", "mv", "sub/.env", "sub/env.txt")
	scratch.Write(t, filepath.Join(dir, "sub/env.txt"), "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	commit("renamed")
	run("git", "rm", "-q", "sub/env.txt")
	scratch.Write(t, filepath.Join(dir, "a.txt"), "one\ntwo\nthree\n")
	commit("gone")
	return p, run
}

// TestOtherVersions: git prints lines of other versions of files without a question if none of them may contain passwords or keys,
// and never the keys.
func TestOtherVersions(t *testing.T) {
	p, run := versionsOf(t)
	for tag, name := range map[string]string{"settings": ".mcp.json", "certificate": "ca-bundle.pem", "hosts": "gh/hosts.yml"} {
		run("git", "checkout", "-q", "-b", "with-"+tag, "plain")
		scratch.Write(t, filepath.Join(p.Dir, name), "token: hidden\n")
		run("git", "add", "-f", name)
		run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", tag)
		run("git", "tag", tag)
	}
	run("git", "config", "diff.relative", "true")       // with which git lists less in a folder
	run("git", "checkout", "-q", "-b", "side", "plain") // merged into it: the file with keys, under another name
	scratch.Write(t, filepath.Join(p.Dir, "c.txt"), "side\n")
	run("git", "add", "-A")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "side")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "merge", "-q", "-m", "first merged", "keys")
	run("git", "mv", "sub/.env", "sub/moved.txt")
	scratch.Write(t, filepath.Join(p.Dir, "sub/moved.txt"), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")
	run("git", "add", "-A")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--amend", "-m", "first merged")
	run("git", "tag", "merged")
	run("git", "checkout", "-q", "main")
	if out := run("git", "show", "-M", "merged"); !strings.Contains(out, "moved.txt") && !strings.Contains(run("git", "show", "-m", "-M", "merged"), "hidden") {
		t.Fatalf("the merge: %q", out)
	}
	scratch.Write(t, filepath.Join(p.Dir, "gh/x.txt"), "x\n") // not tracked
	blob := strings.TrimSpace(run("git", "rev-parse", "keys:sub/.env"))
	if got := run("git", "show", blob); !strings.Contains(got, "hidden") {
		t.Fatalf("git show of the file: %q", got)
	}
	scratch.Write(t, filepath.Join(p.Dir, ".env"), "KEY=hidden\n")
	run("git", "add", "-f", ".env")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "stash", "-q") // 0: with keys
	for _, line := range []string{
		"git show --stat " + blob, "git show " + blob, "git diff " + blob + " HEAD:a.txt", "git diff plain " + blob, "git cat-file -p " + blob, "git log -p " + blob, "git diff --stat -p plain..." + blob,
		"git show keys", "git show renamed", "git show -U0 --word-diff renamed", "git log -p", "git log -p -n 3", "git log -p --all -- sub", "git log --oneline -p", "git log -p --reverse plain..renamed", "git log -p -w keys",
		"git log -L 1,1:sub/env.txt renamed", "git log -L 1,+1:sub/.env keys", "git log -L 1,1:a.txt -L 1,1:sub/env.txt renamed", "git log -w -L1,1:sub/env.txt --all",
		"git show keys:sub/.env", "git show --stat keys:sub/.env", "git cat-file -p keys:sub/.env", "git cat-file -p keys:./sub/.env", "git show keys:sub//.env", "cd " + p.Dir + "/sub && git show keys:./.env", "cd " + p.Dir + "/sub && git show renamed",
		"git diff plain keys", "git diff keys renamed -- sub", "git diff plain..keys", "git diff more...gone~1", "git diff keys", "git diff --exit-code keys",
		"git blame keys -- sub/.env", "git blame keys sub/.env", "git log -S hidden --oneline", "git log -G 'KEY=h' --oneline", "git log -Shidden --format=%h -1", "git log -p --follow -- sub/env.txt",
		"git grep hidden keys", "git grep -c KEY=h keys", "git grep -q -e KEY=h keys -- sub", "git stash show -p", "git stash show", "git stash show -p 0", "git stash show 'stash@{0}' -u",
		"cd " + p.Dir + "/sub && git log -p renamed", "cd " + p.Dir + "/gh && git show hosts", "git show settings", "git log -p -n 1 settings", "git show certificate",
		"git log -p --no-renames renamed", "git log -p --find-renames=90 renamed", "git log -p --diff-filter=R", "git log --patch-with-stat", "git show merged", "git show -m merged", "git log -p -m -n 1 merged", "git log -p --first-parent -n 1 merged", "git diff merged side keys", "git diff merged keys side", "git diff keys..merged side", "git log -p --relative", "git show --format=%h -p keys more", "git show more keys",
	} {
		j := p.Judge(line)
		if script := j.Script(); script != "" {
			if got := run("sh", "-c", script); strings.Contains(got, "hidden") || strings.Contains(line, "-S") || strings.Contains(line, "-G") || strings.Contains(line, "grep") {
				t.Errorf("%s, run as %s: %q", line, script, got)
			}
		}
	}
	run("git", "config", "--unset", "diff.relative")
	for line, want := range map[string]string{
		"git show more": "+two", "git show -p more": "+two", "git show": "+three", "git show gone -- a.txt": "+three", "git show more:a.txt": "two", "git cat-file -p more:a.txt": "two", "git cat-file -p more": "first more", "git cat-file -t more": "commit",
		"git log -p more": "+two", "git log -L 2,2:a.txt more": "+two", "git log -w -L2,+1:a.txt --format=%h more": "+two", "git log -p -n 1 more": "+two", "git log -p -- a.txt": "+three", "git log -p a.txt": "+three", "git log -p --format='%h %s' plain..more": "+two", "git log -p more~1..more": "+two", "git log --oneline -U0 more": "+two", "git log -p | head -12": "",
		"git diff plain more": "+two", "git diff plain..more": "+two", "git diff --exit-code plain more": "+two", "git diff more~ more -- a.txt": "+two", "git diff more HEAD a.txt": "+three", "git diff keys^ keys~1": "", "git diff --stat plain keys": ".env",
		"git blame more -- a.txt": "two", "git blame more a.txt": "two", "git log -S two --oneline -- a.txt": "first more", "git log -G thre --format=%s -- a.txt": "first gone", "git log -S two --format=%s more": "first more",
		"git grep two more": "a.txt", "git grep -n two": "a.txt", "git grep -e two -- a.txt": "a.txt", "git show --stat HEAD": "a.txt", "git show -s --format=%s": "first", "git show --stat HEAD -- a.txt": "a.txt",
		"cd " + p.Dir + "/sub && git show more:./b.txt": "plain", "cd " + p.Dir + "/sub && git log -p more": "+two", "cd " + p.Dir + "/sub && git diff plain more": "+two",
	} {
		j := p.Judge(line)
		if script := j.Script(); script == "" {
			if want == "" {
				continue
			}
			t.Errorf("%s asks: %q", line, j.Reasons())
		} else if got := run("sh", "-c", script); !strings.Contains(got, want) || strings.Contains(got, "hidden") {
			t.Errorf("%s, run as %s: %q", line, script, got)
		}
	}
	run("git", "config", "blame.ignoreRevsFile", "sec.txt")
	scratch.Write(t, filepath.Join(p.Dir, "sec.txt"), "KEY=hidden\n")
	if got := run("git", "blame", "a.txt"); !strings.Contains(got, "hidden") {
		t.Errorf("git blame shows no line of its settings: %q", got)
	}
	if got := run("sh", "-c", p.Judge("git blame a.txt").Script()); strings.Contains(got, "hidden") || !strings.Contains(got, "two") {
		t.Errorf("git blame shows %q", got)
	}
	scratch.Write(t, filepath.Join(p.Dir, "a.txt"), "one\ntwo\nthree\nfour\n")
	if script := p.Judge("git diff --cached").Script(); script == "" {
		t.Errorf("nothing is staged: %q", p.Judge("git diff --cached").Reasons())
	}
	run("git", "add", "a.txt")
	if script := p.Judge("git diff --cached").Script(); !strings.Contains(run("sh", "-c", script), "+four") {
		t.Errorf("git diff --cached is run as %q", script)
	}
	scratch.Write(t, filepath.Join(p.Dir, "x.pem"), "hidden\n")
	run("git", "add", "-f", "x.pem")
	for _, line := range []string{"git diff --cached", "git diff --staged -U0", "git diff HEAD", "git grep hidden", "git grep -c hidden --cached"} {
		if script := p.Judge(line).Script(); script != "" {
			t.Errorf("%s shows a key that is staged: %s", line, script)
		}
	}
}

// TestVersionsRunNothing: with settings that name programs for all that git does with lines of files, none of them is
// run by the list of names, nor by the command.
func TestVersionsRunNothing(t *testing.T) {
	p, run := versionsOf(t)
	ran := filepath.Join(filepath.Dir(p.Dir), filepath.Base(p.Dir)+"-ran")
	evil := filepath.Join(p.Dir, "evil")
	scratch.Program(t, evil, "#!/bin/sh\ncat\necho x >>'"+ran+"'\n")
	scratch.Write(t, filepath.Join(p.Dir, ".gitattributes"), "* diff=evil\n")
	for _, key := range []string{"core.pager", "pager.log", "pager.show", "pager.diff", "diff.external", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor", "gpg.program", "core.editor", "core.askPass"} {
		run("git", "config", key, evil)
	}
	run("git", "config", "log.showSignature", "true")
	run("git", "config", "diff.relative", "true")
	run("git", "config", "format.pretty", "%G?")
	for _, line := range []string{"git show more", "git log -p more", "git diff plain more", "git diff --cached", "git stash show -p", "git blame more -- a.txt", "git cat-file -p more:a.txt", "git show more:a.txt", "git grep two more", "git log -S two -- a.txt", "git diff"} {
		j := p.Judge(line)
		if j.Class != Safe {
			if line != "git stash show -p" {
				t.Errorf("%s asks: %q", line, j.Reasons())
			}
			continue
		}
		run("sh", "-c", j.Script())
		if data, err := os.ReadFile(ran); err == nil {
			t.Fatalf("%s, run as %s, ran a program: %s", line, j.Script(), data)
		}
	}
	if run("git", "show", "more"); !exists(ran) {
		t.Error("git runs none of the programs anyway")
	}
	run("git", "config", "filter.evil.clean", evil)
	if j := p.Judge("git show more"); j.Class == Safe {
		t.Error("git show is safe with a filter in the settings")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestManyVersions: if git names more files than are read, the command asks.
func TestManyVersions(t *testing.T) {
	p, run := versionsOf(t)
	blob := strings.TrimSpace(run("git", "rev-parse", "plain:a.txt"))
	var index strings.Builder
	for i := range listSize / 200 {
		fmt.Fprintf(&index, "100644 %s\t%0200d\n", blob, i)
	}
	scratch.Write(t, filepath.Join(p.Dir, "index"), index.String())
	if out := run("sh", "-c", "git update-index --index-info <index"); out != "" {
		t.Fatal(out)
	}
	if j := p.Judge("git diff --cached"); j.Class == Safe || !strings.Contains(strings.Join(j.Reasons(), ""), "are not known") {
		t.Errorf("the names of the files were not read to the end: %q", j.Reasons())
	}
}
