package idetest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/peer/peertest"
)

// StrangersText is the stranger's answer to every proposal.
const StrangersText = "the stranger's\n"

// Stranger is another user's editor on a port of this machine: it accepts every
// proposal with its own text.
type Stranger struct{ *peertest.Stranger }

// role configures the stranger's process.
type role struct {
	Port  int
	Token string // known to the stranger; empty: its own
	Name  string // of the dialect
}

// StartStranger has another user listen on a port like an editor of the given dialect.
// It skips the test if there can be no other user. The test program needs a test
// "TestStrangerProcess" that calls [ServeAsStranger].
func StartStranger(tb testing.TB, d Dialect, port int, token string) *Stranger {
	tb.Helper()
	data, err := json.Marshal(role{port, token, d.Name})
	if err != nil {
		tb.Fatal(err)
	}
	s := &Stranger{peertest.Start(tb, "TestStrangerProcess", string(data))}
	s.Next("the stranger listens")
	return s
}

// Got stops the stranger and returns everything it was sent: handshakes, tokens and
// requests.
func (s *Stranger) Got() []string {
	var got []string
	for _, line := range s.Stop() {
		if rest, ok := strings.CutPrefix(line, "the stranger got "); ok {
			got = append(got, rest)
		}
	}
	return got
}

// ServeAsStranger runs the stranger; in any other process it does nothing.
func ServeAsStranger(t *testing.T) {
	what, ok := peertest.Asked()
	if !ok {
		return
	}
	var r role
	if err := json.Unmarshal([]byte(what), &r); err != nil {
		t.Fatal(err)
	}
	d := Ours()
	for _, other := range []Dialect{Neovim(), Emacs(), JetBrains(), Nexus3()} {
		if other.Name == r.Name {
			d = other
		}
	}
	e := startAt(t, d, r.Port)
	if r.Token != "" {
		e.Know(r.Token)
	}
	fmt.Println("the stranger listens")
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends it
	}()
	for {
		select {
		case d := <-e.Shown:
			d.Edit(StrangersText)
			d.Accept()
		case <-over:
			e.report()
			return
		}
	}
}

// report prints everything that the editor was sent.
func (e *Editor) report() {
	accepted, refused := e.Handshakes()
	if accepted+refused > 0 {
		fmt.Printf("the stranger got %d handshakes\n", accepted+refused)
	}
	for _, c := range e.Conns() {
		if token := c.Header.Get(e.Dialect.Header); e.Dialect.Header != "" && token != "" {
			fmt.Println("the stranger got the token " + token)
		}
	}
	for _, r := range e.Requests("") {
		fmt.Println("the stranger got " + r.Method)
	}
}
