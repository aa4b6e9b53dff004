package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

type command = func(ts *testscript.TestScript, neg bool, args []string)

// commands are the commands of scenarios besides testscript's own.
func commands() map[string]command {
	return map[string]command{
		"status":      status,
		"jsonpath":    jsonPath,
		"private":     private,
		"absent":      absent,
		"unescape":    unescape,
		"serve":       serve,
		"session-id":  sessionID,
		"long-script": longScript,
	}
}

// status N agent ARGS… runs the program and expects exit status N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// jsonPath PATH WANT expects the value at PATH (keys and indexes separated by dots) of
// the JSON object on the last line of stdout to be WANT, as JSON.
func jsonPath(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: jsonpath path want")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var v any
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &v))
	for _, key := range strings.Split(args[0], ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				ts.Fatalf("no %s in %v", key, at)
			}
			v = at[i]
		default:
			ts.Fatalf("no %s in %v", key, at)
		}
	}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	ts.Check(enc.Encode(v))
	if same := strings.TrimSpace(got.String()) == args[1]; same == neg {
		ts.Fatalf("%s is %s, want %s", args[0], strings.TrimSpace(got.String()), args[1])
	}
}

// private DIR expects everything below DIR to be inaccessible to others.
func private(ts *testscript.TestScript, neg bool, args []string) {
	err := filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			ts.Fatalf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	ts.Check(err)
}

// absent TEXT DIR expects no file below DIR to contain TEXT.
func absent(ts *testscript.TestScript, neg bool, args []string) {
	files := 0
	err := filepath.WalkDir(ts.MkAbs(args[1]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		if strings.Contains(ts.ReadFile(path), args[0]) {
			ts.Fatalf("%s holds %q", path, args[0])
		}
		return nil
	})
	ts.Check(err)
	if files == 0 {
		ts.Fatalf("there is no file in %s", args[1])
	}
}

// unescape FILE TEXT writes TEXT, a Go string without its quotes, to FILE.
func unescape(ts *testscript.TestScript, neg bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// serve TEXT KEY starts a model server that answers each request with TEXT if it
// carries KEY. Its base URL is in $SERVER.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	text, key := args[0], args[1]
	model := llmtest.NewServerFunc(scenario{ts}, func(_ int, body []byte) llmtest.Turn {
		if err := transcriptjudge.Check(body); err != nil {
			return llmtest.Raw(http.StatusBadRequest, "text/plain", err.Error())
		}
		return llmtest.Turn{Text: text}
	})
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, `{"error":{"message":"wrong key"}}`, http.StatusUnauthorized)
			return
		}
		model.ServeHTTP(w, r)
	}))
	ts.Defer(door.Close)
	ts.Setenv("SERVER", door.URL+"/v1")
}

// scenario lets a script use helpers that need a test.
type scenario struct{ ts *testscript.TestScript }

func (scenario) Helper() {}

func (s scenario) Cleanup(f func()) { s.ts.Defer(f) }

// session-id NAME sets the variable NAME to the id of the first session of "agent
// sessions list".
func sessionID(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("agent", "sessions", "list"))
	id, _, ok := strings.Cut(ts.ReadFile("stdout"), " ")
	if !ok {
		ts.Fatalf("there is no session")
	}
	ts.Setenv(args[0], id)
}

// long-script FILE N END writes a script whose answer is N bytes and then END.
func longScript(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := strings.Repeat("word ", n/5) + args[2]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("turns:\n  - {chunk: 100, text: "+text+"}\n"), 0o644))
}
