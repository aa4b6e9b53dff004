package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// boxed is a workspace with a home beside it, which commands in the sandbox may not
// write.
type boxed struct {
	t          *testing.T
	dir, home  string
	mode, rest string // of the sandbox, and more settings
}

func newBoxed(t *testing.T, mode string) *boxed {
	t.Helper()
	if o := sandbox.Probe(t.Context()); o.Missing != "" {
		t.Skip(o.Missing)
	}
	base := t.TempDir()
	b := &boxed{t: t, dir: filepath.Join(base, "project"), home: filepath.Join(base, "user"), mode: mode}
	for _, dir := range []string{b.dir, b.home, filepath.Join(base, "tmp")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// run has a model run one command line, which a mode approves, and returns the result
// that the model was given.
func (b *boxed) run(line string) string {
	b.t.Helper()
	call, err := json.Marshal(map[string]any{"command": line, "timeout": 300})
	if err != nil {
		b.t.Fatal(err)
	}
	scratch.Write(b.t, filepath.Join(b.home, "script.yaml"), fmt.Sprintf(
		"turns:\n  - calls: [{tool: execute_command, args: %s}]\n  - text: done\n", call))
	cmd := agentIn(b.t, b.dir, "-p", "go", "--permission-mode", "bypass", "--output-format", "stream-json")
	cache, err := exec.CommandContext(b.t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "HOME="+b.home, "AGENT_HOME="+filepath.Join(b.home, ".agent"), "TMPDIR="+filepath.Join(filepath.Dir(b.dir), "tmp"),
		"AGENT_MODEL=script:"+filepath.Join(b.home, "script.yaml"), "AGENT_SANDBOX="+b.mode, "GOCACHE="+strings.TrimSpace(string(cache)), "GOFLAGS=", b.rest)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Logf("agent ended with %v", err)
	}
	return string(out)
}

func (b *boxed) write(name, text string) { scratch.Write(b.t, filepath.Join(b.dir, name), text) }

// works are lines that developers run every day, with their files.
var works = map[string]struct{ line, files string }{
	"make": {"make -j2 && test -s out/made && make", `
-- Makefile --
all: out/made
out/made: in ; mkdir -p out && cp in $@.tmp && mv $@.tmp $@
-- in --
x
`},
	"compiler": {"gcc -O1 -o prog a.c && ./prog | grep ran", `
-- a.c --
#include <stdio.h>
int main(void) { FILE *f = tmpfile(); puts("ran"); return !f; }
`},
	"go test": {"go vet ./... && go test -count=1 ./... && go test -c -o tool . && ./tool", `
-- go.mod --
module example.com/x

go 1.24
-- x_test.go --
package x

import (
	"net"
	"os"
	"testing"
)

func TestX(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(t.TempDir()+"/f", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`},
	"git": {
		"git init -q . && git config user.name x && git config user.email x@example.com && git add . && git commit -qm first && " +
			"git checkout -qb other && echo two >>a && git commit -qam second && git gc -q && git status && test $(git log --oneline | wc -l) = 2",
		"\n-- a --\none\n",
	},
	"shell": {
		"sed -i s/one/two/ a && grep two <(cat a) && mktemp && cat <<<here >b && chmod 700 b && touch b && rm b && (sleep 100 & kill $!) && timeout 9 true",
		"\n-- a --\none\n",
	},
}

// What developers do every day works in the sandbox.
func TestSandboxHarmsNoWork(t *testing.T) {
	t.Parallel()
	for name, work := range works {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBoxed(t, "required")
			for _, f := range txtar.Parse([]byte(work.files)).Files {
				b.write(f.Name, string(f.Data))
			}
			if out := b.run(work.line); !strings.Contains(out, "exit code: 0") {
				t.Error(out)
			}
		})
	}
}

// registry serves one package with an install script, as a mirror on this machine does.
func registry(t *testing.T) string {
	t.Helper()
	var pack bytes.Buffer
	zipped := gzip.NewWriter(&pack)
	files := tar.NewWriter(zipped)
	for name, text := range map[string]string{
		"package.json": `{"name": "left", "version": "1.0.0", "scripts": {"postinstall": "node -e \"require('fs').writeFileSync('built', 'yes')\""}}`,
		"index.js":     "module.exports = 'left'\n",
	} {
		if err := files.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if files.Close() != nil || zipped.Close() != nil {
		t.Fatal("the package cannot be packed")
	}
	sum := sha512.Sum512(pack.Bytes())
	var url string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = w.Write(pack.Bytes()) // npm compares the sum
			return
		}
		fmt.Fprintf(w, `{"name": "left", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "left", "version": "1.0.0", "hasInstallScript": true,
			"dist": {"tarball": "%s/left-1.0.0.tgz", "integrity": "sha512-%s"}}}}`, url, base64.StdEncoding.EncodeToString(sum[:]))
	}))
	t.Cleanup(server.Close)
	url = server.URL
	return url
}

func TestSandboxHarmsNoInstall(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	b := newBoxed(t, "required")
	b.write("package.json", `{"name": "x", "version": "1.0.0", "scripts": {"test": "node -e \"process.exit(require('left') === 'left' ? 0 : 1)\""}}`)
	out := b.run("npm install --no-audit --no-fund --registry " + registry(t) + " left && cat node_modules/left/built && npm test")
	if !strings.Contains(out, "exit code: 0") || !strings.Contains(out, "yes") {
		t.Error(out)
	}
	// Without the network the same fails.
	b.rest = "AGENT_SANDBOX_NETWORK=false"
	out = b.run("npm install --fetch-retries 0 --no-audit --no-fund --prefer-online --registry " + registry(t) + " left")
	if strings.Contains(out, "exit code: 0") || !strings.Contains(out, "EACCES") {
		t.Error(out)
	}
}

// flights are lines that write outside of the workspace or reach another process. OUT is
// the home, and PARENT the program itself.
var flights = map[string]string{
	"write":            "echo x >OUT/f",
	"relative":         "echo x >../user/f",
	"link":             "ln -s OUT there && echo x >there/f",
	"hard link":        "ln OUT/script.yaml f && echo x >>f",
	"move":             "echo x >f && mv f OUT/f",
	"move in":          "mv OUT/script.yaml f",
	"remove":           "rm OUT/script.yaml",
	"own settings":     "echo 'sandbox: off' >OUT/.agent/config.yaml",
	"start-up file":    "echo x >>OUT/.bashrc",
	"child":            "setsid -w sh -c 'echo x >OUT/f'",
	"found by find":    "find OUT -name script.yaml -exec cp {} OUT/f ';' && test -e OUT/f",
	"program":          "perl -e 'open(F, q(>), q(OUT/f)) or die; print F q(x)'",
	"mount":            "mkdir m && mount --bind OUT m && echo x >m/f && umount m",
	"namespace":        "unshare -m sh -c 'echo x >f'",
	"system":           "echo $(cat /proc/sys/kernel/printk_delay) >/proc/sys/kernel/printk_delay",
	"signal":           "kill -0 PARENT",
	"environment":      "tr '\\0' '\\n' </proc/PARENT/environ >f && grep AGENT_HOME f",
	"memory":           "dd if=/proc/PARENT/mem of=/dev/null bs=1 count=0",
	"open files":       "ls -l /proc/PARENT/fd",
	"trace":            "strace -o /dev/null -p PARENT & sleep 0.3; kill -INT $!; wait $!; test $? = 130 -o $? = 0 -o $? = 2",
	"limit of memory":  "prlimit --pid PARENT --as=unlimited",
	"devices":          "mknod d c 1 1",
	"clock":            "date -s @$(date +%s)",
	"name of the host": "hostname $(hostname)",
}

// special lists flights that a container may refuse without a sandbox, or that need a
// program that is not everywhere.
var special = []string{"program", "mount", "namespace", "system", "trace", "limit of memory", "devices", "clock", "name of the host"}

// Each line leaves the workspace without the sandbox, and fails in it. The mode that
// approves the line does not approve running it again.
func TestSandboxEscapes(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("half of them work for root only; internal/sandbox has more")
	}
	for name, line := range flights {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, mode := range []string{"off", "auto"} {
				b := newBoxed(t, mode)
				line := strings.NewReplacer("OUT", b.home, "PARENT", "$PPID").Replace(line)
				out := b.run(line)
				escaped := strings.Contains(out, "exit code: 0")
				if !escaped && mode == "off" && slices.Contains(special, name) {
					t.Skipf("it fails without the sandbox too: %s", out)
				}
				if escaped != (mode == "off") {
					t.Errorf("sandbox: %s: %s", mode, out)
				}
			}
		})
	}
	t.Logf("load: %d escapes", len(flights))
}
