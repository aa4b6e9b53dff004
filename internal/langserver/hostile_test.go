package langserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// TestMain is also a hostile server.
func TestMain(m *testing.M) {
	if how := os.Getenv("LANGSERVER_TEST_HOSTILE"); how != "" {
		hostile(how)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// say writes a message of the protocol.
func say(w *bufio.Writer, message string) {
	fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(message), message)
	if w.Flush() != nil {
		os.Exit(0) // nobody listens
	}
}

// hostile serves the protocol until the other side closes its end, in a way.
func hostile(how string) {
	r, w := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		var length int
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if rest, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(rest))
			}
			if line == "\r\n" {
				break
			}
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(r, data); err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(data, &m) == nil && how == "elsewhere" {
			blame(w, m.Method, data)
		}
		if json.Unmarshal(data, &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		answer := func(result string) { say(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`) }
		switch m.Method {
		case "initialize":
			answer(`{"capabilities":{}}`)
		case "shutdown":
			answer("null")
		default:
			misbehave(how, w, answer)
		}
	}
}

// blame reports errors of many files for a text that is broken: of ones of its folder, of others, and of odd names.
func blame(w *bufio.Writer, method string, data []byte) {
	var m struct {
		Params struct {
			TextDocument struct {
				URI     string
				Version int
				Text    string
			}
			ContentChanges []struct{ Text string }
		}
	}
	if json.Unmarshal(data, &m) != nil || method != "textDocument/didOpen" && method != "textDocument/didChange" {
		return
	}
	of := m.Params.TextDocument
	for _, c := range m.Params.ContentChanges {
		of.Text = c.Text
	}
	found := `[]`
	if of.Text == "broken" {
		found = `[{"message":"` + strings.Repeat("m", 2*maxText) + `"}` + strings.Repeat(`,{"message":"m"}`, 2*maxFindings) + `]`
	}
	say(w, fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":%q,"version":%d,"diagnostics":[]}}`, of.URI, of.Version))
	for i := range 2 * maxFiles {
		for _, uri := range []string{of.URI + strconv.Itoa(i), "file:///outside" + strconv.Itoa(i%9), of.URI + "%1b" + strconv.Itoa(i)} {
			say(w, fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":%q,"diagnostics":%s}}`, uri, found))
		}
	}
}

// misbehave answers a question.
func misbehave(how string, w *bufio.Writer, answer func(result string)) {
	switch how {
	case "crash":
		os.Exit(3)
	case "hang":
	case "busy":
		say(w, `{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"begin"}}}`)
	case "flood":
		for i := range 3000 {
			say(w, `{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///x`+strconv.Itoa(i)+`","diagnostics":[`+strings.Repeat(`{"message":"m"},`, 100)+`{"message":"m"}]}}`)
			say(w, `{"jsonrpc":"2.0","method":"$/progress","params":{"token":`+strconv.Itoa(i)+`,"value":{"kind":"begin"}}}`)
			if i < 100 {
				say(w, `{"jsonrpc":"2.0","id":"`+strconv.Itoa(i)+`","method":"workspace/applyEdit","params":{"edit":{}}}`)
			}
		}
		answer(`[{"uri":"file:///a","range":{}}]`)
	case "deaf": // asks, and never reads the answers
		for i := 0; ; i++ {
			say(w, `{"jsonrpc":"2.0","id":`+strconv.Itoa(i)+`,"method":"workspace/configuration","params":{"items":[`+strings.Repeat("1,", 10000)+`1]}}`)
		}
	case "large":
		answer(`[` + strings.Repeat(`{},`, 4<<20) + `{}]`)
	case "huge":
		const gigabyte = 1 << 30
		fmt.Fprintf(w, "Content-Length: %d\r\n\r\n", gigabyte)
		block := strings.Repeat(" ", 1<<20)
		for range gigabyte >> 20 {
			if _, err := w.WriteString(block); err != nil {
				os.Exit(0)
			}
		}
		if w.Flush() != nil {
			os.Exit(0)
		}
		say(w, `{"jsonrpc":"2.0","id":9,"method":"workspace/executeCommand","params":{"command":"x"}}`)
		answer(`[{"uri":"file:///a","range":{"start":{"line":-9}}}]`)
	}
}

// hostileServers returns the servers of a folder of which one misbehaves.
func hostileServers(t *testing.T, how string, change func(*Options)) (*Servers, Place) {
	t.Helper()
	dir := scratch.Dir(t, map[string]string{"a.foo": "x"})
	o := Options{
		Folders: []string{dir}, Programs: lookpath.Search{Path: t.TempDir(), Dirs: []string{dir}}, Env: append(os.Environ(), "LANGSERVER_TEST_HOSTILE="+how),
		Servers: []Server{{Name: "hostile", Command: []string{os.Args[0]}, Languages: map[string]string{".foo": "foo"}}},
	}
	if change != nil {
		change(&o)
	}
	s := New(o)
	t.Cleanup(s.Close)
	return allowAll(s), Place{Path: filepath.Join(dir, "a.foo"), Text: "x"}
}

// TestHostileServers: whatever a server sends, a question ends with an answer or the reason, and little is kept.
func TestHostileServers(t *testing.T) {
	for how, want := range map[string]string{
		"crash": "hostile: the server ended", "large": "hostile: its answer has more than 8 MB",
		"flood": "", "huge": "",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s, at := hostileServers(t, how, nil)
			found, err := s.Definition(t.Context(), at)
			if got := fmt.Sprint(err); want == "" && (err != nil || len(found) != 1) || want != "" && got != want {
				t.Errorf("%v, %v", found, err)
			}
			if p := s.running["hostile"]; p != nil {
				p.mu.Lock()
				defer p.mu.Unlock()
				if len(p.told) > maxOpen || len(p.busy) > maxSettings {
					t.Errorf("%d reports and %d kinds of work are kept", len(p.told), len(p.busy))
				}
			}
		})
	}
}

// TestHostileErrorsElsewhere: of a flood of errors in other files little is kept, and none of files outside of the folder.
func TestHostileErrorsElsewhere(t *testing.T) {
	s, at := hostileServers(t, "elsewhere", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = s.Definition(ctx, at) // starts it
	_, after, err := s.Try(t.Context(), "hostile", []Proposal{{Path: at.Path, Before: "x", After: "broken"}})
	if err != nil || len(after) == 0 || len(after) > maxFiles*maxFindings {
		t.Fatalf("%d, %v", len(after), err)
	}
	for _, d := range after {
		if !strings.HasPrefix(d.Path, at.Path) || strings.Contains(d.Path, "\x1b") || len(d.Message) > maxText+len("…") {
			t.Fatalf("%q: %.50s, %d bytes", d.Path, d.Message, len(d.Message))
		}
	}
}

// TestDeafServers: a server that asks and never reads the answers ends with the session all the same.
func TestDeafServers(t *testing.T) {
	s, at := hostileServers(t, "deaf", nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if found, err := s.Definition(ctx, at); err == nil {
		t.Errorf("%v", found)
	}
	s.Close()
}

// TestSilentServers: a server that does not answer is given up, also if it always claims to work.
func TestSilentServers(t *testing.T) {
	for how, patience := range map[string]int{"hang": 1, "busy": 1 + maxLate} {
		s, at := hostileServers(t, how, nil)
		if how == "busy" { // it claims so first
			over, cancel := context.WithCancel(t.Context())
			go func() {
				for s.Tries(at.Path) == "" || !isBusy(s) {
					if t.Context().Err() != nil {
						break
					}
				}
				cancel()
			}()
			_, _ = s.Definition(over, at)
		}
		for i := range patience {
			p := s.running["hostile"]
			if p == nil {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_, _ = s.Definition(ctx, at) // starts it
				p = s.running["hostile"]
			}
			if got := s.stuck(p, true); got != (i == patience-1) {
				t.Errorf("%s, late answer %d: given up is %v", how, i+1, got)
			}
		}
	}
}

func isBusy(s *Servers) bool {
	s.mu.Lock()
	p := s.running["hostile"]
	s.mu.Unlock()
	return p != nil && p.isBusy()
}

// TestIdleServersEnd: a server that nobody asks ends, and starts with the next question, without another yes.
func TestIdleServersEnd(t *testing.T) {
	var waits []time.Duration
	var end func()
	stopped := 0
	s, at := hostileServers(t, "large", func(o *Options) {
		o.After = func(d time.Duration, f func()) func() bool {
			waits, end = append(waits, d), f
			return func() bool { stopped++; return true }
		}
	})
	for range 2 {
		_, _ = s.Definition(t.Context(), at) // the answer is too large
	}
	p := s.running["hostile"]
	if len(waits) != 2 || waits[0] != idleTime || stopped != 1 || p == nil {
		t.Fatalf("%v, stopped %d times", waits, stopped)
	}
	s.mu.Lock()
	p.asks++ // a question is under way
	s.mu.Unlock()
	end()
	if s.running["hostile"] != p {
		t.Fatal("it ended during a question")
	}
	p.asks--
	end()
	if s.Tries(at.Path) != "" || !p.hasEnded() || len(s.Starts(t.Context(), at.Path)) != 0 {
		t.Fatalf("running: %v, to be asked: %+v", s.running, s.Starts(t.Context(), at.Path))
	}
	if _, err := s.Definition(t.Context(), at); err == nil || s.running["hostile"] == nil {
		t.Errorf("after its end: %v, %v", s.running, err)
	}
}

// TestOwnServers: a person's entry changes a known server or adds one, which goes first; a program of the project does not count.
func TestOwnServers(t *testing.T) {
	ending := ""
	if runtime.GOOS == "windows" {
		ending = ".exe"
	}
	dir := scratch.Dir(t, map[string]string{"p/go.mod": "module m\n", "p/a.ts": ""})
	for _, name := range []string{"p/node_modules/.bin/gopls", "bin/tsx", "bin/vtsls"} {
		scratch.Program(t, filepath.Join(dir, name+ending), "#!/bin/sh\ntouch ran\n")
	}
	folder := filepath.Join(dir, "p")
	path := strings.Join([]string{filepath.Join(folder, "node_modules/.bin"), filepath.Join(dir, "bin")}, string(os.PathListSeparator))
	o := Options{Folders: []string{folder}, Programs: lookpath.Search{Path: path, Dirs: []string{folder}}}
	o.Servers = []Server{
		{Name: "tsx", Command: []string{"tsx", "-s"}, Languages: map[string]string{".ts": "typescript"}},
		{Name: "gopls", Command: []string{"gopls", "-v"}},
		{Name: "lost"},
		{Name: "odd", Command: []string{"odd"}},
		{Name: "torn", Broken: "its command is wrong"},
	}
	list := func() string {
		var all []string
		for _, u := range New(o).List() {
			all = append(all, u.Name+" "+strings.Join(u.Command, " ")+" "+strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(u.Path, dir+string(filepath.Separator))), ending)+u.Reason)
		}
		return strings.Join(all, "\n")
	}
	want := "tsx tsx -s bin/tsx\ngopls gopls -v the only gopls on PATH is " + filepath.Join(folder, "node_modules/.bin/gopls"+ending) +
		", which is not started by its name, as it belongs to a project: write its path in full\n" +
		"lost  language_servers names no command for it\nodd odd language_servers names no languages for it\ntorn  its command is wrong\n" +
		"vtsls vtsls --stdio bin/vtsls\ntypescript-language-server typescript-language-server --stdio typescript-language-server is not on PATH"
	if got := list(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	s := New(o)
	if got := s.Starts(t.Context(), filepath.Join(folder, "a.ts")); len(got) != 1 || got[0].Name != "tsx" {
		t.Errorf("for one file: %+v", got)
	}
	o.Untrusted = true
	if s := New(o); s.Serve() || len(s.Starts(t.Context(), "")) > 0 {
		t.Error("a server would start in a folder that is not trusted")
	}
}

// TestNamesOfFiles: only a URI of a file of this machine names one, and two names of a file are one.
func TestNamesOfFiles(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///a/b": "/a/b", "FILE://localhost/a%20b/%F0%9F%99%82": "/a b/🙂", "file:///a/./c/%2e%2e/b": "/a/b", "file:///a%2Fb/": "/a/b", "file:///a%25b%23": "/a%b#",
		"file://evil.example/a": "", "file:///a%00": "", "file:///a%0Ab": "", "file:///a%1b": "", "file:///%E2%80%AEa": "", "file:///a?b": "", "file:///a#b": "", "file:a": "", "file:": "", "/a": "",
		"http:///a": "", "untitled:/a": "", "file:///%zz": "", "\x1b]0;x\a": "",
	} {
		got, err := pathOf(uri)
		if got != filepath.FromSlash(want) || (err == nil) != (want != "") || err != nil && strings.ContainsAny(err.Error(), "\x1b\n\x00") {
			t.Errorf("%q: %q, %v", uri, got, err)
		}
	}
}
