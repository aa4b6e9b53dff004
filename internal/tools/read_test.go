package tools

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestReadFile(t *testing.T) {
	utf16 := "\xff\xfe"
	for _, u := range utf16Of("zwölf\r\nzwei\r\n") {
		utf16 += string(binary.LittleEndian.AppendUint16(nil, u))
	}
	b := newBench(t, map[string]string{
		"a": "one\ntwo\n\nfour\n", "open": "x\ny", "empty": "", "crlf": "a\r\nb\r\n", "latin": "caf\xe9\n", "bom": "\xef\xbb\xbfx\n", "utf16": utf16,
		"long": strings.Repeat("x", 5000) + "\nend\n", "bin": "abc\x00def", "many": strings.Repeat("line\n", 2500), "sub/readme.md": "",
	})
	tests := []struct {
		args   m
		failed bool
		want   string
		user   string
	}{
		{m{"path": "a"}, false, "1 | one\n2 | two\n3 | \n4 | four\ntotal_lines: 4", "4 of 4 lines"},
		{m{"path": "a", "offset": 2, "limit": 2}, false, "2 | two\n3 | \ntotal_lines: 4; shown: 2-3; continue with offset 4", "2 of 4 lines"},
		{m{"path": filepath.Join(b.dir, "a"), "offset": 4}, false, "4 | four\ntotal_lines: 4", ""},
		{m{"path": "a", "offset": 5}, true, "a has no line 5; total_lines: 4", ""},
		{m{"path": "a", "offset": -1}, true, "must not be negative", ""},
		{m{"path": "open"}, false, "1 | x\n2 | y\ntotal_lines: 2", ""},
		{m{"path": "empty"}, false, "total_lines: 0", ""},
		{m{"path": "crlf"}, false, "1 | a\n2 | b\ntotal_lines: 2; stored as utf-8 with CRLF, which edits keep", ""},
		{m{"path": "latin"}, false, "1 | café\ntotal_lines: 1; stored as iso-8859-1 with LF", ""},
		{m{"path": "bom"}, false, "1 | x\ntotal_lines: 1", ""},
		{m{"path": "utf16"}, false, "1 | zwölf\n2 | zwei\ntotal_lines: 2; stored as utf-16le with CRLF, which edits keep", ""},
		{m{"path": "long"}, false, "1 | " + strings.Repeat("x", 2000) + " […3000 bytes more]\n2 | end\ntotal_lines: 2", ""},
		{m{"path": "bin"}, true, "bin is a binary file of 7 bytes", ""},
		{m{"path": "sub"}, true, "sub is a folder: use list_files", ""},
		{m{"path": "sub/raedme.md"}, true, "sub/raedme.md does not exist. Did you mean sub/readme.md?", ""},
		{m{"path": "nowhere/at/all"}, true, "nowhere/at/all does not exist.", ""},
		{m{"path": ""}, true, "not a path", ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.args), func(t *testing.T) {
			res := b.call("read_file", tt.args)
			if res.Failed != tt.failed || !strings.Contains(res.ForModel, tt.want) || (!tt.failed && res.ForModel != tt.want) {
				t.Errorf("failed %v: %q, want %q", res.Failed, res.ForModel, tt.want)
			}
			if tt.user != "" && res.ForUser != tt.user {
				t.Errorf("the user sees %q", res.ForUser)
			}
		})
	}
	many := b.call("read_file", m{"path": "many"})
	b.want(many, false, "2000 | line\ntotal_lines: 2500; shown: 1-2000; continue with offset 2001")
	if len(b.ask.asked) != 0 {
		t.Errorf("%d questions were asked", len(b.ask.asked))
	}
}

func utf16Of(s string) []uint16 { return utf16.Encode([]rune(s)) }

// Files that could block or never end are answered in time, with little output.
func TestReadStrangeFiles(t *testing.T) {
	b := newBench(t, nil)
	sparse := filepath.Join(b.dir, "sparse")
	b.write("sparse", "")
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Fatal(err)
	}
	huge, err := os.Create(filepath.Join(b.dir, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("text ", 2000) + "\n"
	for range (readScan + 1<<20) / len(line) {
		if _, err := huge.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := huge.Close(); err != nil {
		t.Fatal(err)
	}
	special := specialFiles(t, b.dir)
	special["sparse"] = "sparse is a binary file of 1099511627776 bytes"
	for name, want := range special {
		start := time.Now()
		b.want(b.call("read_file", m{"path": name}), true, want)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
	res := b.call("read_file", m{"path": "huge", "limit": 1})
	b.want(res, false, "1 | text text", "total_lines: unknown", "continue with offset 2")
	if len(res.ForModel) > 3000 {
		t.Errorf("%d bytes", len(res.ForModel))
	}
	res = b.call("read_file", m{"path": "huge"})
	if len(res.ForModel) > readText+3000 {
		t.Errorf("%d bytes", len(res.ForModel))
	}
}

func TestReadOutsideIsAsked(t *testing.T) {
	b := newBench(t, nil)
	outside := scratch.Dir(t, nil)
	name := filepath.Join(outside, "lib.go")
	scratch.Write(t, name, "package lib\n")
	b.ask.verdict = confirm.Verdict{}
	res := b.call("read_file", m{"path": name})
	b.want(res, true, "declined this read outside the workspace")
	if !res.Stop || res.Denied == nil || strings.Contains(res.ForModel, "package lib") {
		t.Errorf("%+v", res)
	}
	if len(b.ask.asked) != 1 || confirm.As[*confirm.Read](b.ask.asked[0]) == nil || confirm.As[*confirm.Read](b.ask.asked[0]).Path != name {
		t.Fatalf("asked: %+v", b.ask.asked)
	}
	b.ask.verdict.Unasked = true
	b.want(b.call("read_file", m{"path": name}), true, "nobody could be asked")

	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve}
	b.want(b.call("read_file", m{"path": name}), false, "1 | package lib")
	b.ask.asked = nil
	b.want(b.call("read_file", m{"path": name}), false, "1 | package lib")
	if len(b.ask.asked) != 0 {
		t.Error("a file is asked about twice")
	}
	b.want(b.call("list_files", m{"path": outside}), false, "lib.go")
	b.want(b.call("search_files", m{"path": outside, "regex": "package"}), false, "1:package lib")
	b.want(b.call("find_files", m{"path": outside, "pattern": "*.go"}), false, filepath.ToSlash(name))
	if len(b.ask.asked) != 1 || confirm.As[*confirm.Read](b.ask.asked[0]).Path != outside {
		t.Errorf("asked: %+v", b.ask.asked)
	}
	b.ask.err = context.Canceled
	if _, err := b.set.Call(t.Context(), "read_file", Call{Args: json.RawMessage(`{"path":"/etc/hostname"}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestListFindSearch(t *testing.T) {
	files := map[string]string{"a.go": "package a\n\nvar needle = 1\n", "sub/b.go": "needle\r\n", "sub/deep/c.txt": "x\n", "out/o.go": "needle\n", ".gitignore": "out/\n"}
	for i := range 600 {
		files[fmt.Sprintf("many/f%03d", i)] = ""
	}
	b := newBench(t, files)
	outside := filepath.Join(t.TempDir(), "hosts")
	scratch.Write(t, outside, "")
	outside = filepath.ToSlash(outside)
	tests := []struct {
		tool   string
		args   m
		failed bool
		want   []string
	}{
		{"list_files", m{"path": "."}, false, []string{".gitignore\na.go\nmany/\nout/\nsub/\n5 entries"}},
		{"list_files", m{"path": "sub", "recursive": true}, false, []string{"sub/b.go\nsub/deep/\nsub/deep/c.txt\n3 entries"}},
		{"list_files", m{"path": "many"}, false, []string{"many/f499\ntruncated: 500 of 600 entries shown"}},
		{"list_files", m{"path": "a.go"}, true, []string{"not a folder"}},
		{"list_files", m{"path": "subb"}, true, []string{"subb does not exist. Did you mean sub?"}},
		{"find_files", m{"pattern": "*.go"}, false, []string{"a.go\n", "sub/b.go\n", "2 files"}},
		{"find_files", m{"pattern": "**/*.txt", "path": "sub"}, false, []string{"sub/deep/c.txt\n1 file"}},
		{"find_files", m{"pattern": "f*"}, false, []string{"truncated: 200 of 600 files shown"}},
		{"find_files", m{"pattern": "*.rs"}, false, []string{"No files."}},
		{"find_files", m{"pattern": "[", "path": "."}, true, []string{"not a glob"}},
		{"search_files", m{"regex": "needle"}, false, []string{"a.go\n2-\n3:var needle = 1\n\nsub/b.go\n1:needle\n\n2 matches in 2 files."}},
		{"search_files", m{"regex": "needle", "path": "sub", "context": 0}, false, []string{"sub/b.go\n1:needle\n\n1 match in 1 file."}},
		{"search_files", m{"regex": "needle", "path": "a.go"}, false, []string{"a.go\n2-\n3:var needle = 1\n\n1 match in 1 file."}},
		{"search_files", m{"regex": "needle", "path": "out/o.go"}, false, []string{"out/o.go\n1:needle"}},
		{"search_files", m{"regex": "needle", "file_pattern": "*.txt"}, false, []string{"No matches."}},
		{"search_files", m{"regex": "needle", "limit": 1}, false, []string{"1 match in 1 file. There are more"}},
		{"search_files", m{"regex": "("}, true, []string{"not RE2"}},
		{"search_files", m{"regex": "x", "path": "nowhere"}, true, []string{"nowhere does not exist"}},
		{"search_files", m{"regex": "x", "path": outside}, true, []string{outside + " is not a folder"}},
	}
	for _, tt := range tests {
		t.Run(tt.tool+fmt.Sprint(tt.args), func(t *testing.T) {
			b.T = t
			b.want(b.call(tt.tool, tt.args), tt.failed, tt.want...)
		})
	}
}

// No tool that reads folders follows a link out.
func TestSearchStaysInside(t *testing.T) {
	b := newBench(t, map[string]string{"a": "needle\n"})
	outside := t.TempDir()
	scratch.Write(t, filepath.Join(outside, "secret"), "needle\n")
	for name, target := range map[string]string{"dir": outside, "file": filepath.Join(outside, "secret")} {
		scratch.Symlink(t, target, filepath.Join(b.dir, name))
	}
	b.want(b.call("search_files", m{"regex": "needle"}), false, "a\n1:needle\n\n1 match in 1 file.")
	if res := b.call("list_files", m{"path": ".", "recursive": true}); strings.Contains(res.ForModel, "secret") {
		t.Error(res.ForModel)
	}
	b.ask.verdict = confirm.Verdict{}
	b.want(b.call("read_file", m{"path": "file"}), true, "declined")
	b.want(b.call("search_files", m{"regex": "needle", "path": "dir"}), true, "declined")
}

// Lines that end in "\r" in the head of a file, as those of a progress bar do, are numbered as
// edit_lines and search_files number them.
func TestReturnsInTheHead(t *testing.T) {
	bar := strings.Repeat("50 %\r", 8<<10)
	b := newBench(t, map[string]string{"log": bar + "\nalpha\nbeta\n"})
	b.want(b.call("read_file", m{"path": "log", "offset": 2, "limit": 2}), false, "2 | alpha\n3 | beta")
	b.want(b.call("search_files", m{"path": "log", "regex": "beta"}), false, "3:beta")
	b.want(b.call("edit_lines", m{"path": "log", "start_line": 3, "end_line": 3, "new_content": "gamma"}), false, "Wrote log")
	if got := b.read("log"); got != bar+"\nalpha\ngamma\n" {
		t.Errorf("the file ends in %q", got[len(bar):])
	}
}

// The files of a process expose keys: they are not even asked about.
func TestProcessesAreNeverRead(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x\n"})
	scratch.Symlink(t, "/proc/self/environ", filepath.Join(b.dir, "link"))
	for i, path := range []string{fmt.Sprintf("/proc/%d/environ", os.Getpid()), "/proc/self/environ", "link", "/proc/self/environ"} {
		if i == 3 {
			b.deps.Root.Outside().Allow("/proc")
		}
		res := b.call("read_file", m{"path": path})
		if !res.Failed || strings.Contains(res.ForModel, "PATH=") {
			t.Errorf("%s: %q", path, res.ForModel)
		}
	}
	if len(b.ask.asked) != 0 {
		t.Errorf("asked: %+v", b.ask.asked)
	}
}

// The program's keys may be in the workspace if that is the user's home.
func TestKeysAreNeverRead(t *testing.T) {
	b := newBench(t, map[string]string{".agent/credentials.json": "sk-secret\n", "credentials.json": "sk-other\n"})
	b.deps.Home = filepath.Join(b.dir, ".agent")
	b.set = NewSet(b.deps)
	scratch.Symlink(t, ".agent/credentials.json", filepath.Join(b.dir, "link"))
	for _, path := range []string{".agent/credentials.json", "link"} {
		if res := b.call("read_file", m{"path": path}); !res.Failed || strings.Contains(res.ForModel, "sk-secret") {
			t.Errorf("read %s: %q", path, res.ForModel)
		}
		if res := b.call("search_files", m{"path": path, "regex": "sk-"}); !res.Failed || strings.Contains(res.ForModel, "sk-secret") {
			t.Errorf("search %s: %q", path, res.ForModel)
		}
	}
	for _, path := range []string{".", ".agent"} {
		if res := b.call("search_files", m{"path": path, "regex": "sk-"}); strings.Contains(res.ForModel, "sk-secret") {
			t.Errorf("search %s: %q", path, res.ForModel)
		}
	}
	if res := b.call("search_files", m{"path": ".", "regex": "sk-"}); !strings.Contains(res.ForModel, "sk-other") {
		t.Errorf("a project's own file: %q", res.ForModel)
	}
}

// In a person's home as in a project, what holds keys is asked about, whatever tool reads it;
// the rest is not.
func TestKeysOfAHome(t *testing.T) {
	const key = "s3cret-value"
	asked := strings.Fields(`.ssh/id_rsa .ssh/config .aws/credentials .azure/accessTokens.json .azure/config .docker/config.json .docker/daemon.json
		.kube/config .kube/cache/token .config/gh/hosts.yml .config/gcloud/credentials.db .config/gcloud/application_default_credentials.json
		.local/share/keyrings/login.keyring Library/Keychains/login.keychain-db .claude/.credentials.json .claude.json .codex/auth.json
		.cargo/credentials .cargo/credentials.toml .s3cfg .my.cnf .mylogin.cnf .config/rclone/rclone.conf .terraformrc .terraform.d/credentials.tfrc.json
		.m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .netrc .bash_history .agent/config.yaml .agent/history
		.agent/sessions/x.jsonl .agent/mcp/a.log .gem/credentials .pgpass .npmrc .yarnrc.yml .config/pip/pip.conf .mozilla/firefox/x/logins.json
		.config/google-chrome/Default/Cookies .vault-token .oci/config .password-store/a.gpg .huggingface/token .gnupg/private-keys-v1.d/a.key
		p/service-account.json p/my-project-service-account-1.json p/terraform.tfstate p/terraform.tfstate.backup p/prod.env p/.htpasswd p/release.jks
		p/app.keystore p/debug.p8 p/client_secret_1.json p/.env.local p/secrets.yaml p/server.PEM p/vpn.ovpn p/.docker/config.json p/kubeconfig
		p/x-firebase-adminsdk-a.json etc/sudoers etc/shadow`)
	free := strings.Fields(`.profile .config/gh/config.yml .claude/CLAUDE.md .codex/AGENTS.md .cargo/config.toml .m2/repository/a/b.pom p/.agent/config.yaml
		p/.docker/Dockerfile p/.kube/deploy.yaml p/.azure/pipeline.yml p/gradle.properties p/example.env p/.env.example p/service-account.go p/process.env
		p/main.tf p/settings.xml p/auth.json p/id_map.go p/keys.go p/secret_test.go p/.gitconfig notes/credentials.md`)
	files := map[string]string{}
	for _, name := range append(asked, free...) {
		files[name] = key + "\n"
	}
	b := newBench(t, files)
	scratch.SetHome(t, b.dir)
	b.deps.Home = filepath.Join(b.dir, ".agent")
	b.set = NewSet(b.deps)
	b.ask.verdict = confirm.Verdict{}
	for _, name := range free {
		b.want(b.call("read_file", m{"path": name}), false, key)
	}
	if len(b.ask.asked) != 0 {
		t.Errorf("asked about a free file: %+v", confirm.As[*confirm.Read](b.ask.asked[0]))
	}
	own := r{b.deps} // a tool of the same parts that asks nobody
	fsys, _, err := b.deps.Root.FS(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range asked {
		b.ask.asked = nil
		res := b.call("read_file", m{"path": name})
		if len(b.ask.asked) != 1 || strings.Contains(res.ForModel, key) {
			t.Errorf("%s is read without a question: %q", name, res.ForModel)
			continue
		}
		if res := b.call("edit_file", m{"path": name, "old_string": "s3cret", "new_string": "x", "description": "-"}); strings.Contains(res.ForModel, key) {
			t.Errorf("an edit of %s shows it: %q", name, res.ForModel)
		}
		if text := own.read(name); strings.Contains(text, key) {
			t.Errorf("another tool reads %s", name)
		}
		if data, err := fs.ReadFile(fsys, name); !errors.Is(err, workspace.ErrGuarded) {
			t.Errorf("the folder's files: %s is %q, %v", name, data, err)
		}
	}
	res := b.call("search_files", m{"regex": key, "mode": "files"})
	for _, name := range asked {
		if strings.Contains("\n"+res.ForModel, "\n"+name) {
			t.Errorf("a search shows %s", name)
		}
	}
	if !strings.Contains(res.ForModel, "Not searched: ") || !strings.Contains(res.ForModel, "p/main.tf") {
		t.Errorf("a search: %q", res.ForModel)
	}
	// Neither does a link lead to one.
	scratch.Symlink(t, ".ssh", filepath.Join(b.dir, "dir"))
	for _, name := range []string{"dir/config", "dir/id_rsa"} {
		if data, err := fs.ReadFile(fsys, name); !errors.Is(err, workspace.ErrGuarded) {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
	// A yes is for one file.
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve}
	b.want(b.call("read_file", m{"path": ".docker/config.json"}), false, key)
	if text := own.read(".docker/config.json") + own.read(".docker/daemon.json"); text != key+"\n" {
		t.Errorf("after a yes for one: %q", text)
	}
}

// r reads files as a tool does that looks at nothing itself.
type r struct{ Deps }

func (r r) read(path string) string {
	f, err := r.Root.Read(path)
	s, openErr := r.Root.Open(path)
	if openErr == nil {
		openErr = s.Close()
	}
	if (err == nil) != (openErr == nil) {
		return "Read and Open differ"
	}
	return f.Text
}

// TestAFolderThatMayBeReadKeepsItsKeys: after agreeing to a folder, a person is asked
// about each file with keys in it, and a search leaves them out.
func TestAFolderThatMayBeReadKeepsItsKeys(t *testing.T) {
	b := newBench(t, nil)
	outside := scratch.Dir(t, nil)
	for name, text := range map[string]string{"plain.txt": "needle\n", ".env": "needle-env\n", "deep/id_rsa": "needle-key\n"} {
		path := filepath.Join(outside, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	b.call("list_files", m{"path": outside})
	b.want(b.call("read_file", m{"path": filepath.Join(outside, "plain.txt")}), false, "needle")
	if len(b.ask.asked) != 1 {
		t.Fatalf("asked: %+v", b.ask.asked)
	}
	if res := b.call("search_files", m{"path": outside, "regex": "needle"}); !strings.Contains(res.ForModel, "plain.txt") || strings.Contains(res.ForModel, "needle-") {
		t.Errorf("a search: %q", res.ForModel)
	}
	yes := b.ask.verdict
	for i, name := range []string{".env", "deep/id_rsa"} {
		path := filepath.Join(outside, name)
		b.ask.verdict = confirm.Verdict{}
		b.want(b.call("read_file", m{"path": path}), true, "declined")
		if last := b.ask.asked[len(b.ask.asked)-1]; !last.Force || confirm.As[*confirm.Read](last) == nil || confirm.As[*confirm.Read](last).Path != path {
			t.Errorf("%s: asked %+v", name, last)
		}
		b.ask.verdict = yes
		b.want(b.call("read_file", m{"path": path}), false, "needle-")
		b.want(b.call("read_file", m{"path": path}), false, "needle-") // asked about already
		if want := 3 + 2*i; len(b.ask.asked) != want {
			t.Errorf("%s: %d questions, want %d", name, len(b.ask.asked), want)
		}
	}
}

func TestReadsAreRemarkedOn(t *testing.T) {
	b := newBench(t, nil)
	outside := scratch.Dir(t, nil)
	b.call("list_files", m{"path": outside})
	b.call("read_file", m{"path": filepath.Join(filepath.Dir(outside), ".env")})
	if len(b.ask.asked) != 2 {
		t.Fatalf("asked: %+v", b.ask.asked)
	}
	if folder := b.ask.asked[0]; folder.Force || len(folder.Notes) != 1 || !strings.Contains(folder.Notes[0].Text, "everything in it may be read") {
		t.Errorf("a folder: %+v", folder)
	}
	if secret := b.ask.asked[1]; !secret.Force || len(secret.Notes) != 1 || !strings.Contains(secret.Notes[0].Text, "passwords") {
		t.Errorf("a secret: %+v", secret)
	}
}

// An rg in the workspace may be the model's own.
func TestRipgrepOfTheWorkspaceIsNotRun(t *testing.T) {
	b := newBench(t, map[string]string{"rg": "#!/bin/sh\ntouch run\n", "a": "needle\n"})
	if err := os.Chmod(filepath.Join(b.dir, "rg"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", b.dir)
	b.want(b.call("search_files", m{"regex": "needle"}), false, "a\n1:needle")
	if _, err := os.Stat(filepath.Join(b.dir, "run")); err == nil {
		t.Error("it was run")
	}
}

type findings struct {
	list    []editor.Diagnostic
	unknown bool
	err     error
	path    string
}

func (*findings) Mute() bool { return false }

func (f *findings) Report(_ context.Context, path string, _ time.Duration) ([]editor.Diagnostic, bool, error) {
	f.path = path
	return f.list, !f.unknown, f.err
}

func TestGetDiagnostics(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": ""})
	b.want(b.call("get_diagnostics", m{}), true, "no editor connected")
	f := &findings{list: []editor.Diagnostic{
		{Path: filepath.Join(b.dir, "a.go"), Line: 7, Severity: editor.SeverityHint, Message: "hint"},
		{Path: filepath.Join(b.dir, "a.go"), Line: 3, Severity: editor.SeverityError, Message: "undefined:\nx"},
		{Path: "/elsewhere/b.go", Line: 1, Severity: editor.SeverityWarning, Message: "unused"},
	}}
	b.deps.Reports = f
	b.set = NewSet(b.deps)
	res := b.call("get_diagnostics", m{})
	if want := "[error] a.go:3 — undefined: x\n[warning] /elsewhere/b.go:1 — unused\n[hint] a.go:7 — hint"; res.ForModel != want {
		t.Errorf("%q, want %q", res.ForModel, want)
	}
	res = b.call("get_diagnostics", m{"severity": "warning", "path": "a.go"})
	if strings.Contains(res.ForModel, "hint") || f.path != filepath.Join(b.dir, "a.go") {
		t.Errorf("%q of %q", res.ForModel, f.path)
	}
	b.want(b.call("get_diagnostics", m{"severity": "fatal"}), true, "error, warning, info, hint")
	f.list = nil
	b.want(b.call("get_diagnostics", m{}), false, "No diagnostics are known.")
	b.want(b.call("get_diagnostics", m{"path": "a.go"}), false, "No diagnostics.")
	f.unknown = true
	b.want(b.call("get_diagnostics", m{"path": "a.go"}), false, "Not known: ")
	f.err = errors.New("timed out")
	b.want(b.call("get_diagnostics", m{}), true, "The editor did not answer: timed out")
}

// A file in the workspace that may contain passwords or keys is read only if a person agrees, and
// none of its text gets to the model before that.
func TestReadingKeysIsAsked(t *testing.T) {
	const key = "s3cret-canary"
	files := map[string]string{".env": "TOKEN=" + key + "\nA=1\n", "deploy/.env.prod": key, "certs/server.pem": key, "sub/id_ed25519": key, ".env.example": "TOKEN=\n", "id_map.go": "package id\n", ".agent/config.yaml": "x: 1\n", ".git/config": "url = https://ana:" + key + "@host/a\n"}
	b := newBench(t, files)
	for name := range files {
		b.ask.asked, b.ask.verdict = nil, confirm.Verdict{}
		free := name == ".env.example" || name == "id_map.go" || name == ".agent/config.yaml"
		res := b.call("read_file", m{"path": name})
		if res.Failed == free || len(b.ask.asked) > 0 == free || strings.Contains(res.ForModel, key) {
			t.Errorf("%s: %d questions, failed %v: %s", name, len(b.ask.asked), res.Failed, res.ForModel)
		}
		if free {
			continue
		}
		keys := "may contain passwords or keys"
		if name == ".git/config" {
			keys = "holds a password or token of git"
		}
		if req := b.ask.asked[0]; !req.Force || !confirm.As[*confirm.Read](req).Inside || confirm.As[*confirm.Read](req).Name != name || confirm.As[*confirm.Read](req).Keys != keys {
			t.Errorf("%s: asked %+v", name, req)
		}
	}
	b.ask.asked = nil
	b.want(b.call("read_file", m{"path": ".env.none"}), true, "does not exist")
	scratch.Symlink(t, ".env", filepath.Join(b.dir, "notes.txt"))
	b.want(b.call("search_files", m{"regex": key}), false, "Not searched: 4 files that may contain passwords or keys")
	b.want(b.call("edit_file", m{"path": ".env", "old_string": "TOKEN=x", "new_string": "y"}), true, "does not fit the file")
	if len(b.ask.asked) > 0 {
		t.Errorf("asked %+v", b.ask.asked[0])
	}
	for _, res := range []Result{
		b.call("search_files", m{"regex": key, "path": ".env"}), b.call("read_file", m{"path": "notes.txt"}),
		b.call("edit_file", m{"path": ".env", "old_string": "TOKEN=x", "new_string": "y"}),
	} {
		if strings.Contains(res.ForModel, key) || !res.Failed {
			t.Errorf("the model was told %q", res.ForModel)
		}
	}

	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve}
	b.want(b.call("read_file", m{"path": ".env"}), false, key)
	b.ask.verdict = confirm.Verdict{}
	b.want(b.call("search_files", m{"regex": key}), false, ".env", "Not searched: 3 files")
}

// Edits of a file with keys have the same answer whether they fit it, change it or may not
// be made: one of a letter each would read it without a question.
func TestEditsDoNotRevealKeys(t *testing.T) {
	b := newBench(t, map[string]string{".env.key": "KEY=s3cret\n"})
	b.ask.verdict = confirm.Verdict{Unasked: true}
	calls := []call{
		{"regex_replace", m{"path": ".env.key", "pattern": "(KEY=[a-m])", "replacement": "$1"}},
		{"regex_replace", m{"path": ".env.key", "pattern": "(KEY=[n-z])", "replacement": "$1"}},
		{"regex_replace", m{"path": ".env.key", "pattern": "(KEY=[n-z])", "replacement": "x$1"}},
		{"regex_replace", m{"path": ".env.key", "pattern": "KEY=s.*", "replacement": "# ... rest of the file unchanged ..."}},
		{"edit_file", m{"path": ".env.key", "edits": []m{{"old_string": "KEY=s", "new_string": "QQ"}, {"old_string": "QQ", "new_string": "KEY=s"}}}},
		{"edit_file", m{"path": ".env.key", "old_string": "KEY=t", "new_string": "QQ"}},
		{"write_file", m{"path": ".env.key", "content": "KEY=s3cret\n"}},
		{"write_file", m{"path": ".env.key", "content": "KEY=t3cret\n"}},
	}
	first := b.call(calls[0].tool, calls[0].args)
	for _, c := range calls {
		c.args["path"] = filepath.Join(b.dir, ".env.key")
		if res := b.call(c.tool, c.args); !res.Failed || res.ForModel != first.ForModel {
			t.Errorf("%s %v: failed %v: %s", c.tool, c.args, res.Failed, res.ForModel)
		}
	}
	b.ask.asked, b.ask.verdict = nil, confirm.Verdict{}
	res := b.call("regex_replace", m{"path": ".env.key", "pattern": "KEY=[n-z]", "replacement": "x"})
	if len(b.ask.asked) != 1 || res.Denied == nil || !strings.Contains(res.ForModel, "The user declined this edit") {
		t.Errorf("%d questions: %s", len(b.ask.asked), res.ForModel)
	}
}

// Without a limit of the model's own, more matches than are worth their tokens come as
// files with numbers, and the first of them.
func TestSearchOfManyMatches(t *testing.T) {
	b := newBench(t, map[string]string{"a": strings.Repeat("needle\n", 90), "b": strings.Repeat("needle\n", 9)})
	b.want(b.call("search_files", m{"regex": "needle"}), false, "99 matches in 2 files.", "90:needle")
	b.write("c", "needle\nneedle\n")
	res := b.call("search_files", m{"regex": "needle"})
	b.want(res, false, "a: 90\nb: 9\nc: 2\n\n101 matches in 3 files.", "The first of them", "20:needle\n21-needle\n\n20 matches in 1 file.")
	if res.ForUser != "101 matches" || strings.Contains(res.ForModel, "22:") {
		t.Errorf("%s: %s", res.ForUser, res.ForModel)
	}
	b.want(b.call("search_files", m{"regex": "needle", "limit": 500}), false, "90:needle", "101 matches in 3 files.")
	b.want(b.call("search_files", m{"regex": "needle", "mode": "files"}), false, "a\nb\nc\n\n3 files.")
	b.want(b.call("search_files", m{"regex": "needle", "mode": "lines"}), true, "the modes are content, files and count")
}
