package doctor

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

func TestCheckHome(t *testing.T) {
	private := t.TempDir()
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	public := t.TempDir()
	if err := os.Chmod(public, 0o755); err != nil {
		t.Fatal(err)
	}
	openTo, openText, openFix := broken, "read by others (mode 755)", "chmod 700 "+public
	if runtime.GOOS == "windows" { // which has no mode bits
		openTo, openText, openFix = good, public, ""
	}
	file := filepath.Join(private, "file")
	scratch.Write(t, file, "")
	for _, c := range []struct {
		home  string
		grade grade
		text  string
		fix   string
	}{
		{private, good, private, ""},
		{filepath.Join(private, "missing"), good, "will be created", ""},
		{public, openTo, openText, openFix},
		{file, broken, "not a usable folder", "AGENT_HOME"},
	} {
		got := checkHome(c.home)
		if got.grade != c.grade || !strings.Contains(got.text, c.text) || !strings.Contains(got.fix, c.fix) {
			t.Errorf("%s: %+v", c.home, got)
		}
	}
	if left, err := os.ReadDir(private); err != nil || len(left) != 1 {
		t.Errorf("the check left something behind: %v, %v", left, err)
	}
}

func TestCheckConfig(t *testing.T) {
	if got := checkConfig(config.Config{}, errors.New("config.yaml:3: oh")); got.grade != broken || !strings.Contains(got.text, ":3") {
		t.Errorf("%+v", got)
	}
	if got := checkConfig(config.Config{File: "/no/such/file"}, nil); got.grade != good || !strings.Contains(got.text, "(no ") {
		t.Errorf("%+v", got)
	}
}

func TestCheckKeys(t *testing.T) {
	home := t.TempDir()
	if got := checkKeys(home); got.grade != good || !strings.Contains(got.text, "(no ") {
		t.Errorf("%+v", got)
	}
	for text, want := range map[string]finding{
		"leave: ctrl+q\n":            {grade: good},
		"leaf: ctrl+q\n":             {grade: weak, text: "did you mean leave?"},
		"leaf: ctrl+q\nhistry: f2\n": {grade: weak, text: "did you mean leave?; line 2: histry"},
	} {
		scratch.Write(t, filepath.Join(home, "keys.yaml"), text)
		if got := checkKeys(home); got.grade != want.grade || !strings.Contains(got.text, want.text) || !strings.Contains(got.text, "keys.yaml") {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestCheckTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if got := checkTerminal(Options{Stdin: r, Stdout: w}); got.grade != weak || !strings.Contains(got.fix, "--permission-mode") {
		t.Errorf("%+v", got)
	}
}

func TestCheckProgram(t *testing.T) {
	name, ending := "sh", "/sh"
	if runtime.GOOS == "windows" {
		name, ending = "cmd", `\cmd.exe`
	}
	if got := checkProgram(config.Config{}, name, "worse", "x"); got != fine(got.text) || !strings.HasSuffix(got.text, ending) {
		t.Errorf("%+v", got)
	}
	if got := checkProgram(config.Config{}, "no-such-program", "worse", "install it"); got.grade != weak || got.fix != "install it" || got.means != "worse" {
		t.Errorf("%+v", got)
	}
}

func TestCheckModel(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, err := w.Write([]byte(`{"data":[{"id":"large"}]}`)); err != nil {
			t.Error(err)
		}
	}))
	defer srv.Close()
	t.Setenv("CORP_KEY", "good")
	t.Setenv("BAD_KEY", "bad")
	cfg := config.Config{Providers: map[string]config.Provider{
		"corp":   {BaseURL: srv.URL, APIKeyEnv: "CORP_KEY"},
		"bad":    {BaseURL: srv.URL, APIKeyEnv: "BAD_KEY"},
		"nokey":  {BaseURL: srv.URL, APIKeyEnv: "NO_SUCH_KEY"},
		"gone":   {BaseURL: "http://127.0.0.1:1"},
		"broken": {BaseURL: "http://127.0.0.1:1", APIKeyCommand: []string{"false"}},
	}}
	for _, c := range []struct {
		model string
		grade grade
		text  string
		fix   string
	}{
		{"corp/large", good, "answers in", ""},
		{"corp/small", weak, "does not list this model", "it lists large"},
		{"bad/large", broken, "bad/large at " + srv.URL, "right key into BAD_KEY"},
		{"nokey/large", broken, "nokey/large", "export NO_SUCH_KEY="},
		{"gone/m", broken, "gone/m at http://127.0.0.1:1", "start the server"},
		{"broken/m", broken, "broken/m", "the command false"},
		{"nowhere/m", broken, `unknown provider "nowhere"`, "agent config model"},
		{"script:/no/such/file", broken, "/no/such/file", "readable file"},
	} {
		t.Run(c.model, func(t *testing.T) {
			cfg.Model = c.model
			got := checkModel(t.Context(), cfg, nil)[0]
			if got.grade != c.grade || !strings.Contains(got.text, c.text) || !strings.Contains(got.fix, c.fix) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestCheckSecrets(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", "")
	home := t.TempDir()
	if got := checkSecrets(home); got != fine("no keys stored") {
		t.Errorf("%+v", got)
	}
	if _, err := keystore.Open(home).Put(t.Context(), "http://a/v1", "sk-canary"); err != nil {
		t.Fatal(err)
	}
	if got := checkSecrets(home); got.grade != good || !strings.Contains(got.text, "1 stored") || strings.Contains(got.text, "canary") {
		t.Errorf("%+v", got)
	}
	file := filepath.Join(home, keystore.File)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := checkSecrets(home); runtime.GOOS != "windows" && (got.grade != broken || !strings.Contains(got.fix, "chmod 600 "+file)) {
		t.Errorf("%+v", got)
	}
	if err := errors.Join(os.Remove(file), os.WriteFile(file, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := checkSecrets(home); got.grade != broken || got.fix == "" {
		t.Errorf("%+v", got)
	}
}

func TestCheckProject(t *testing.T) {
	dir := scratch.Dir(t, nil)
	home := t.TempDir()
	look := func(want string) {
		t.Helper()
		if got := checkProject(dir, home); !strings.Contains(got.text, want) || (got.grade == good) != (got.fix == "") {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".agent"), 0o755), os.WriteFile(filepath.Join(dir, trust.ConfigFile), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	look("no project settings")
	write("encoding: big5\n")
	look("are not trusted")
	found, err := trust.Look(dir, home)
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Open(home).Set(t.Context(), trust.Entry{Dir: dir, Folder: found.Folder, Trusted: true, Hash: found.Hash}); err != nil {
		t.Fatal(err)
	}
	look("are trusted")
	write("encoding: koi8-r\n")
	look("have changed")
}

func TestCheckVariables(t *testing.T) {
	env := []string{
		"AGENT_MAX_TUNS=3", "AGENT_ZZZZZZZZ=1", "AGENT_MAX_TURNS=3", "AGENT_MAX_TOKENS=4", "AGENT_IDE_ENABLED=true", "AGENT_HOME=/h",
		"AGENT_CORP_API_KEY=k", "AGENT_MODLE=", "MAX_TUNS=3", "AGENT_IDE_LOCK=/l",
	}
	got := checkVariables(env)
	if len(got) != 1 || got[0].grade != weak || got[0].text != "there is no setting AGENT_MAX_TUNS (did you mean AGENT_MAX_TURNS?), AGENT_ZZZZZZZZ" {
		t.Errorf("%+v", got)
	}
	if got := checkVariables(env[2:]); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestCheckEnvironment(t *testing.T) {
	env := []string{"PATH=/bin", "DATABASE_URL=postgres://u:p@h/d", "AWS_SECRET_ACCESS_KEY=x"}
	for _, c := range []struct {
		keep []string
		want string
	}{
		{nil, "commands do not inherit AWS_SECRET_ACCESS_KEY, DATABASE_URL; for one that they need: agent config set env_keep NAME"},
		{[]string{"DATABASE_URL", "AWS_*"}, "commands inherit all of it"},
	} {
		if got := checkEnvironment(env, config.Config{EnvKeep: c.keep}); got != fine(c.want) {
			t.Errorf("%v: %+v", c.keep, got)
		}
	}
}

// The doctor names why each command asks.
func TestTheShellOfWindows(t *testing.T) {
	got := checkShell(config.Config{}, shell.Interpreter{Name: "cmd.exe", Path: `C:\Windows\System32\cmd.exe`})
	if got.grade != weak || !strings.Contains(got.means, "each command asks") || !strings.Contains(got.fix, "Git for Windows") {
		t.Errorf("%+v", got)
	}
}
