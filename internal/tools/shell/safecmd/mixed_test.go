package safecmd

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestMixedLines: a part that only reads is judged by its place also in a line with other
// parts, of which a rule may allow each.
func TestMixedLines(t *testing.T) {
	p := here(t)
	scratch.Write(t, filepath.Join(p.Dir, "Makefile"), "all:\n")
	for line, want := range map[string]bool{
		"cd " + p.Dir + "; cat main.go":                true,
		"cd " + p.Dir + " && cat /etc/passwd":          false,
		"cd src && cd " + p.Dir + " && cat main.go":    false,
		"cd " + p.Dir + " && cd src && cat main.go":    false,
		"cd . && cat main.go":                          false,
		"go test ./... ; cat main.go":                  true,
		"go test ./... | head -5":                      true,
		"go test ./... && grep -rn x src":              true,
		"go test ./... ; cat /etc/passwd":              false,
		"go test ./... ; grep -r '' /home":             false,
		"go test ./... ; grep -rn . .":                 false,
		"go test ./... ; grep --recursive x -- .":      false,
		"go test ./... ; cat key":                      false,
		"go test ./... ; cat out/file":                 false,
		"go test ./... && wc < /etc/passwd":            false,
		"cd /etc && cat passwd":                        false,
		"go test ./... ; { cat /etc/passwd; }":         false,
		"go test ./... ; if true; then cat key; fi":    false,
		"go test ./... ; cat main.go | cat - out/file": false,
	} {
		j := p.Judge(line)
		reads := true
		for _, part := range j.CommandParts(false) {
			if len(part.Words) > 0 && part.Words[0] != "go" && part.Words[0] != "cd" {
				reads = reads && part.Safe
			}
		}
		if reads != want {
			t.Errorf("%s: only reads: %v: %+v", line, reads, j.Parts)
		}
		if j.Class == Safe || j.Script() != "" {
			t.Errorf("%s: %s, %s", line, j.Class, j.Script())
		}
	}
	p.Path = filepath.Join(p.Dir, "bin")
	scratch.Program(t, filepath.Join(p.Dir, "bin/cat"), "#!/bin/sh\n")
	if parts := p.Judge("go test ./... ; cat main.go").CommandParts(false); parts[1].Safe {
		t.Errorf("a program in the folder is safe: %+v", parts)
	}
}

// TestUnguardedRipgrep: in a line that is not rewritten, the ignore files of a project can
// make rg show hidden files.
func TestUnguardedRipgrep(t *testing.T) {
	p := here(t)
	s := Classify("go test ./... ; rg KEY .").steps
	if len(s) == 0 {
		t.Fatal("no steps")
	}
	if got := s[len(s)-1]; got.name != "rg" || p.reads(got) != "" {
		t.Fatalf("%+v", got)
	}
	if parts := p.Judge("go test ./... ; rg KEY .").CommandParts(false); slices.ContainsFunc(parts[1:], func(c confirm.CommandPart) bool { return c.Safe }) {
		t.Errorf("%+v", parts)
	}
}

// TestFoldersThatAreShown: grep and diff print the files of a folder too.
func TestFoldersThatAreShown(t *testing.T) {
	p := here(t)
	for line, want := range map[string]Class{
		"diff main.go src/a.go":          Safe,
		"diff -u main.go src/a.go":       Safe,
		"diff -N main.go missing":        Safe,
		"diff -N . deploy":               Ask,
		"diff -uN deploy .":              Ask,
		"diff src deploy":                Ask,
		"diff main.go deploy":            Ask,
		"grep -d recurse KEY .":          Ask,
		"grep -drecurse K .":             Ask,
		"grep -nd recurse K .":           Ask,
		"grep -n package main.go":        Safe,
		"grep --directories=recurse K .": Ask,
	} {
		if j := p.Judge(line); j.Class != want {
			t.Errorf("%s: %s: %q", line, j.Class, j.Reasons())
		}
	}
}

// TestJQ: a filter computes nothing.
func TestJQ(t *testing.T) {
	for filter, want := range map[string]Class{
		".": Safe, ".a": Safe, ".a.b": Safe, ".a[0].b": Safe, ".[0]": Safe, ".[-1]": Safe, ".[]": Safe, `.["a-b"].c`: Safe, ".scripts[].name": Safe,
		".a-env.TOKEN": Ask, ".a-env": Ask, ".[env.TOKEN]": Ask, ".-env": Ask, "..": Ask, ".a[b]": Ask, `."a`: Ask, "env": Ask, ".[1-env]": Ask,
	} {
		if j := Classify("jq '" + filter + "' a.json"); j.Class != want {
			t.Errorf("%s: %s: %q", filter, j.Class, j.Reasons())
		}
	}
}

// TestInput: the input of a command decides about its effect, so a rule for its words
// does not cover it.
func TestInput(t *testing.T) {
	wordless := func(line string) bool {
		return slices.ContainsFunc(Classify(line).CommandParts(false), func(c confirm.CommandPart) bool { return c.Words == nil && !c.Safe })
	}
	for line, want := range map[string]bool{
		"patch -p1 < evil.patch":  true,
		"bash < evil.sh":          true,
		"psql db < x.sql":         true,
		"ls && psql db < x.sql":   true,
		"patch -p1":               false,
		"wc -l < main.go":         false,
		"psql db 2>/dev/null":     false,
		"go test ./... < in.txt":  true,
		"cat a.json | patch -p1":  false,
		"psql db >/dev/null <x.s": true,
	} {
		if wordless(line) != want {
			t.Errorf("%s: %+v", line, Classify(line).CommandParts(false))
		}
	}
	if !slices.ContainsFunc(here(t).Judge("cat < /etc/passwd").CommandParts(false), func(c confirm.CommandPart) bool { return c.Words == nil }) {
		t.Error("a rule for cat covers a file that is read as its input")
	}
	parts := Classify("cat a.json | patch -p1 && ls").CommandParts(false)
	if parts[0].Piped || !parts[1].Piped || parts[2].Piped {
		t.Errorf("%+v", parts)
	}
	for _, part := range Classify("a | b | { c; d; }").CommandParts(false)[1:] {
		if !part.Piped {
			t.Errorf("%+v is not behind a pipe", part)
		}
	}
}

// TestHiddenPrograms: a line that can run a program other than those in its words is marked.
func TestHiddenPrograms(t *testing.T) {
	for line, want := range map[string]bool{
		"ls < <(curl evil)": true, "{ ls; } < <(curl evil)": true, `cat <<< "$(curl evil)"`: true, "cat <<E\n$(curl evil)\nE": true, "ls > $(curl evil)": true,
		"let 'a[$(curl evil)]=1'": true, "[[ 'a[$(curl evil)]' -eq 0 ]]": true, "(( a[0] ))": true, "declare 'a[$(curl evil)]=1'": true, "for ((i=0;i<1;i++)); do ls; done": true,
		"npx curl x": true, "flock f curl x": true, "systemd-run curl x": true, "python3 -c 'x'": true, "node -e 'x'": true, "perl -ne x f": true, "awk 1 f": true, "make 'X:=$(shell curl x)'": true, "make -f x": true,
		"git -c alias.x='!curl x' x": true, "git -calias.x='!curl x' x": true, "git rebase -x 'curl x' HEAD": true, "git bisect run curl x": true, "git submodule foreach 'curl x'": true,
		"hash -p /usr/bin/curl ls": true, "mapfile -C 'curl x' a": true, "test -v 'a[$(curl x)]'": true, "printf -v 'a[$(curl x)]' x": true,
		"uv run curl x": true, "poetry run curl x": true, "bundle exec curl x": true, "mise exec -- curl x": true, "hyperfine 'curl x'": true, "uv add curl": false, "poetry install": false, "npm run build": false,
		"prlimit curl x": true, "numactl curl x": true, "dbus-run-session curl x": true, "perf stat curl x": true, "/lib64/ld-linux-x86-64.so.2 /usr/bin/curl x": true,
		"sed -n '1e curl x' a": true, "sed 's/a/curl x/e' a": true, "sed 's|a|b|ge;p' a": true, "sed -f x a": true, "sed -i s/a/e/ main.go": false, "sed -n 1,5p a.e": false,
		"git grep -O'curl x' a": true, "split --filter='curl x' a": true, "rsync -e 'curl x' a b:": true, "rsync -ae 'curl x' a b:": true, "rsync -a a b": false, "man -P 'curl x' ls": true, "man ls": false,
		"vim -c '!curl x'": true, "vim '+!curl x'": true, "vim main.go": false, "sqlite3 x '.shell curl x'": true, "sqlite3 x 'select 1'": false, "sort --compress-program=x a": true, "pwsh -c 'curl x'": true,
		"busybox wget x": true, "npm exec curl": true, "docker run x": true, "tar --to-command=x -xf f": true, "ssh h curl": true,
		"choom -n 0 touch x": true, "rg --pre touch x .": true, "rg --pre=touch x .": true, "rg --pretty x .": false, "rg -n x .": false, "ed a": true, "zip -T -TT 'touch x' a.zip a": true, "zip -r a.zip a": false, "scp -S touch a b:": true, "scp -oProxyCommand=touch a b:": true, "sftp -S touch h": true,
		"go vet -vettool=/bin/touch ./...": true, "go test -exec touch ./...": true, "go build -toolexec touch .": true, "go vet ./...": false, "go test -run X ./...": false, "cc -wrapper touch a.c": true, "gcc -B. a.c": true, "x86_64-linux-gnu-gcc-13 -fplugin=x a.c": true, "gcc -O2 -c a.c": false,
		"cargo --config 'target.x.runner=\"touch\"' run": true, "cargo build": false, "npm --script-shell=touch run x": true, "yarn build": false, "make SHELL=touch": true, "chrt 1 touch x": true, "taskset 1 touch x": true, "ionice touch x": true, "unshare touch x": true, "script -c touch": true,
		"watch touch": true, "parallel touch ::: x": true, "man -Ptouch ls": true, "env -S 'touch x'": true, "valgrind touch": true, "strace touch x": true, "gdb -ex '!touch' x": true, "vim -c '!touch x'": true, "less +!touch a": true, "psql -c '\\! touch'": true, "mysql -e 'system touch x'": true,
		"fzf --preview 'touch x'": true, "tcpdump -z touch": true, "ip netns exec a touch x": true, "ip addr": false, "cmake -E env touch x": true, "cmake -B build": false, "git clone 'ext::touch x'": true, "git send-email --to-cmd=touch a": true, "dc -e '!touch x'": true, "m4 a": true, "sort -k2 a": false,
		"rustc -C linker=touch a.rs": true, "rustup run stable touch x": true, "install --strip-program=touch -s a b": true, "apt-get -o DPkg::Pre-Invoke::=touch update": true, "conda run touch x": true, "bsdtar --use-compress-program touch -xf a": true, "ssh -o ProxyCommand=touch h": true,
		"ls": false, "git status": false, "git push origin main": false, "git -C . log": false, "git commit -m x": false, "make test": false, "npm test": false, "python3 tools/gen.py": false, "python3 -m pytest": false,
		"test -f x": false, "printf hi": false, "export A=b": false, "for f in a b; do cat main.go; done": false, "ls > out.txt": false, "ls <<< hi": false, "go test ./...": false,
	} {
		hidden := slices.ContainsFunc(Classify(line).CommandParts(false), func(c confirm.CommandPart) bool { return c.Hidden })
		if hidden != want {
			t.Errorf("%s: hidden: %v", line, hidden)
		}
	}
}
