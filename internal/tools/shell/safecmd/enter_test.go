package safecmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestEntering: a line that first enters a folder of the project by its absolute path is
// judged like the rest of it there; everything else with a cd asks.
func TestEntering(t *testing.T) {
	p := here(t)
	scratch.Write(t, filepath.Join(p.Dir, ".ssh/known_hosts"), "x\n")
	scratch.Write(t, filepath.Join(p.Dir, "my folder/a.go"), "package a\n")
	for line, want := range map[string]Class{
		"cd W && ls":                        Safe,
		"cd W/ && ls":                       Safe,
		"cd W/src && cat a.go":              Safe,
		"cd W/src/../src && cat a.go":       Safe,
		"cd W/src && cat ../main.go":        Safe,
		"cd W/src && ls && pwd":             Safe,
		"cd W/src && ls | wc -l; pwd":       Safe,
		"cd W/src && cat a.go || true":      Safe,
		"cd W/deploy && cat main.go":        Safe,
		"cd 'W/my folder' && cat a.go":      Safe,
		"cd W/deploy && cat .env":           Danger,
		"cd W/deploy && grep -rn KEY .":     Ask,
		"cd W/src && cat ../../outside/f":   Ask,
		"cd W/src && cat /etc/passwd":       Ask,
		"cd W/out && ls":                    Ask,
		"cd W/.. && ls":                     Ask,
		"cd W/missing && ls":                Ask,
		"cd W/main.go && ls":                Ask,
		"cd W/.ssh && ls":                   Danger,
		"cd / && ls":                        Ask,
		"cd src && ls":                      Ask,
		"cd . && ls":                        Ask,
		"cd && ls":                          Ask,
		"cd - && ls":                        Ask,
		"cd ~ && ls":                        Ask,
		"cd -P W && ls":                     Ask,
		"cd -- W && ls":                     Ask,
		"cd W/s* && ls":                     Ask,
		"cd $PWD && ls":                     Ask,
		"cd W":                              Ask,
		"cd W; ls":                          Ask,
		"cd W || ls":                        Ask,
		"cd W | ls":                         Ask,
		"cd W & ls":                         Ask,
		"! cd W && ls":                      Ask,
		"cd W > out && ls":                  Ask,
		"cd W 2>/dev/null && ls":            Ask,
		"(cd W && ls)":                      Ask,
		"{ cd W && ls; }":                   Ask,
		"ls && cd W && ls":                  Ask,
		"cd W && cd W/src && cat a.go":      Ask,
		"cd W && cd src && cat a.go":        Ask,
		"cd W && pushd src":                 Ask,
		"cd W &&\nls":                       Safe,
		"cd W && ls\ntouch x":               Ask,
		"cd W && ls # x":                    Safe,
		"cd W && ls\npwd":                   Safe,
		"cd W\nls":                          Ask,
		"cd W && cat /etc/passwd\nls":       Ask,
		"cd W && ls &":                      Ask,
		"cd W && ls > out":                  Ask,
		"cd W && touch x":                   Ask,
		"cd W && cat $(touch x)":            Ask,
		"cd W && A=b ls":                    Ask,
		"CDPATH=/ cd W && ls":               Ask,
		"command cd W && ls":                Ask,
		`c\d W && ls`:                       Danger,
		"cd W && rm -rf src":                Danger,
		"cd W && ls && git push --force":    Danger,
		"cd W/src && git -c alias.x='!y' x": Ask,
	} {
		j := p.Judge(strings.ReplaceAll(line, "W", p.Dir))
		if j.Class != want {
			t.Errorf("%s: %s, want %s: %q", line, j.Class, want, j.Reasons())
		}
		if script := j.Script(); (script != "") != (want == Safe) || want == Safe && !strings.HasPrefix(script, "cd '"+p.Dir) {
			t.Errorf("%s runs as %q", line, script)
		}
	}
	j := p.Judge("cd " + p.Dir + "/src/ && pwd ; echo hi")
	if got, want := j.Script(), "cd '"+p.Dir+"/src' || exit ; pwd ; echo 'hi'"; got != want {
		t.Errorf("it runs as %s, want %s", got, want)
	}
	if len(j.Parts) != 3 || j.Parts[0].Text != "cd "+p.Dir+"/src/" || j.Parts[0].Class != Safe || j.Parts[2].Text != "echo hi" {
		t.Errorf("parts: %+v", j.Parts)
	}
}
