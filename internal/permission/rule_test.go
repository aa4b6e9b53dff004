package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func ruleOf(t *testing.T, effect Effect, text string) Rule {
	t.Helper()
	r, err := ParseRule(effect, text, "test")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRuleCoversCommand(t *testing.T) {
	for _, tt := range []struct{ rule, covered, not string }{
		{"run", "ls|rm -rf /", ""},
		{"run(go test *)", "go test|go test ./...|go test a b", "go|go vet|go test -race|go test ./... -exec=x|gotest|/bin/go test"},
		{"run(go test **)", "go test|go test -race ./...", "go vet"},
		{"run(go test -race *)", "go test -race|go test -race ./...", "go test ./... -race"},
		{"run(make)", "make", "make all"},
		{"run(make *)", "make all|make a.b", "make X:=1|make @x|make /x|make ~/x|make ../x|make a/../../b|make C:/x|make c:x|make 'D:\\x'"},
		{"run(make **)", "make X:=1|make /x", ""},
		{"Bash(git diff:*)", "git diff|git diff --stat", "git difftool|git"},
		{"Bash(git log)", "git log", "git log -p"},
		{`run(git commit -m "a  b")`, "git commit -m 'a  b'", "git commit -m a|git commit -m 'a b'"},
	} {
		r := ruleOf(t, Allow, tt.rule)
		for list, want := range map[string]bool{tt.covered: true, tt.not: false} {
			for line := range strings.SplitSeq(list, "|") {
				words, err := splitWords(line)
				if err != nil {
					t.Fatal(err)
				}
				if len(words) > 0 && r.coversWords(words) != want {
					t.Errorf("%s on %s: %v", tt.rule, line, !want)
				}
			}
		}
	}
}

func TestRuleCoversFile(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	shop := scratch.Abs("/work/shop")
	inside := func(name string) file { return file{name, filepath.Join(shop, name)} }
	outside := func(path string) file { return file{scratch.Abs(path), scratch.Abs(path)} }
	notes := filepath.Join(home, "notes/x.txt")
	for _, tt := range []struct {
		rule string
		f    file
		want bool
	}{
		{"edit", inside("a.go"), true},
		{"edit(docs/**)", inside("docs/a/b.md"), true},
		{"edit(./docs/**)", inside("docs/a/b.md"), true},
		{"edit(docs/**)", inside("src/docs/a.md"), false},
		{"edit(docs/**)", outside("/tmp/docs/a.md"), false},
		{"edit(*.md)", inside("docs/a.md"), true},
		{"edit(*.md)", inside("docs/A.MD"), false},
		{"edit(" + shop + "/*.md)", inside("a.md"), true},
		{"edit(" + filepath.ToSlash(shop) + "/*.md)", inside("docs/a.md"), false},
		{"edit(~/notes/**)", file{notes, notes}, true},
		{"edit(~/notes/**)", inside("notes/x.txt"), false},
		{"read(docs/**)", inside("docs/a.md"), false},
		{"edit(/docs/*.md)", inside("docs/a.md"), false},
		// A rule that allows names the drive if there are drives.
		{"edit(/work/shop/*.md)", inside("a.md"), filepath.VolumeName(shop) == ""},
	} {
		if got := ruleOf(t, Allow, tt.rule).coversFile(edits, tt.f); got != tt.want {
			t.Errorf("%s on %v: %v", tt.rule, tt.f, got)
		}
	}
	for _, tt := range []struct {
		rule string
		f    file
		want bool
	}{
		{"read(**/secrets/**)", inside("a/secrets/b"), true},
		{"read(**/secrets/**)", outside("/srv/secrets/b"), true},
		{"read(config/.env)", inside("config/.env"), true},
		{"read(config/.env)", outside("/srv/config/.env"), false},
		{"read(/work/shop/**)", inside("a"), true},
		{"read(/work/shop/**)", outside("/work/shop/a"), true},
		{"read(/a)", inside("a"), false},
		{"read(" + filepath.ToSlash(shop) + "/**)", inside("a"), true},
		{"read(" + shop + "/**)", inside("a"), true},
	} {
		if got := ruleOf(t, Deny, tt.rule).coversFile(reads, tt.f); got != tt.want {
			t.Errorf("deny %s on %v: %v", tt.rule, tt.f, got)
		}
	}
	// Another spelling does not get around a strict rule.
	for _, name := range []string{".ENV", "a/.Env", ".env\u200b", ".env."} {
		if !ruleOf(t, Deny, "read(.env)").coversFile(reads, inside(name)) {
			t.Errorf("read(.env) does not deny %q", name)
		}
	}
}

func TestMalformedRule(t *testing.T) {
	for text, want := range map[string]string{
		"":                "is not a rule",
		"ls":              "is not a rule",
		"WebSearch(x)":    "is not a rule",
		"run()":           "want text between the parentheses",
		"run(ls":          "want text between the parentheses",
		"run(*)":          "name the program",
		"run(go * ./...)": "may only be the last word",
		"run(ls; rm x)":   "must be in quotes",
		"run(ls $HOME)":   "must be in quotes",
		"run('ls)":        "is not closed",
		"edit(a[)":        "is not a glob",
	} {
		if _, err := ParseRule(Allow, text, "config.yaml:3"); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "config.yaml:3: ") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A rule reads back as it was written.
func TestRuleString(t *testing.T) {
	for _, text := range []string{"run", "run(go test *)", `run(git commit -m 'a; b')`, `run(echo 'it'"'"'s' '')`, "edit(docs/**)", "read"} {
		r := ruleOf(t, Allow, text)
		again := ruleOf(t, Allow, r.String())
		if r.String() != text || again.String() != text {
			t.Errorf("%s became %s, then %s", text, r, again)
		}
	}
}

func TestEffect(t *testing.T) {
	for _, e := range []Effect{Allow, Ask, Deny} {
		if got, err := ParseEffect(e.String()); got != e || err != nil {
			t.Errorf("%s: %v %v", e, got, err)
		}
	}
	if _, err := ParseEffect(""); err == nil {
		t.Error("the empty effect was accepted")
	}
}

// A grant is listed with the names and the line that the question showed.
func TestAGrantShowsItsName(t *testing.T) {
	line := running("cat p\u0430y\u00a0x", "/w ")
	later := line
	c := *confirm.As[*confirm.Command](line)
	later.Subject, c.Background = &c, true
	for want, r := range map[string]Rule{
		`reading /tmp/h1 out\u{20}`:                                         Reading("/tmp/h1 out "),
		`reading /tmp/p\u{430}y`:                                            Reading("/tmp/p\u0430y"),
		`the command "cat p\u{430}y\u00a0x" in /w\u{20}`:                    granted(t, line),
		`the command "cat p\u{430}y\u00a0x" in the background, in /w\u{20}`: granted(t, later),
	} {
		if got := r.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func granted(t *testing.T, req confirm.Request) Rule {
	t.Helper()
	r, ok := grantFor(req)
	if !ok {
		t.Fatal("no grant")
	}
	return r
}
