package ide_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
)

// TestStrangerProcess is the other user's editor.
func TestStrangerProcess(t *testing.T) { idetest.ServeAsStranger(t) }

// blind takes the look at the owner of a port away.
func blind(o *ide.Options) {
	o.Search.Foreign = true
	o.Search.Check = func(net.Conn) error { return nil }
	o.Connect.Check = o.Search.Check
}

func foreign(o *ide.Options) { o.Search.Foreign = true }

// leftover leaves the lock of an editor that has crashed, with a process that lives.
func (r *rig) leftover(d idetest.Dialect) (e *idetest.Editor, path string) {
	r.Helper()
	e = idetest.Start(r, d)
	path = e.WriteLock(r.folder(d), r.dir)
	e.Stop()
	return e, path
}

// TestStrangerWinsUnseen: without the look at the owner of a port, another user who
// took it gets the token and the proposal, and his text is written. It shows that
// the next test tests something.
func TestStrangerWinsUnseen(t *testing.T) {
	t.Parallel()
	for name, dialect := range map[string]func() idetest.Dialect{"ours, the secret known": idetest.Ours, "foreign": idetest.Neovim} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, blind)
			e, _ := r.leftover(dialect())
			s := idetest.StartStranger(t, e.Dialect, e.Port(), e.Token())
			r.untilState(ide.Connected)
			req := r.proposal("old\n", "new\n")
			if o, text := r.answered(r.ask(t.Context(), req), req); text != idetest.StrangersText {
				t.Errorf("the stranger did not win: %+v, %q", o, text)
			}
			got := s.Got()
			if !slices.Contains(got, "openDiff") {
				t.Errorf("he got %q", got)
			}
			if !e.Dialect.Ours && !slices.Contains(got, "the token "+e.Token()) {
				t.Errorf("he got no token: %q", got)
			}
		})
	}
}

// TestStrangerGetsNothing: another user who took the port of an editor that has
// gone is sent nothing at all, whatever he knows, and the terminal decides.
func TestStrangerGetsNothing(t *testing.T) {
	t.Parallel()
	for name, dialect := range map[string]func() idetest.Dialect{
		"ours": idetest.Ours, "Neovim": idetest.Neovim, "Emacs": idetest.Emacs, "JetBrains": idetest.JetBrains, "Nexus3": idetest.Nexus3,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, foreign)
			e, path := r.leftover(dialect())
			s := idetest.StartStranger(t, e.Dialect, e.Port(), e.Token())
			if err := r.Connect(t.Context(), ""); err == nil {
				t.Error("linked")
			}
			if err := r.Connect(t.Context(), path); err == nil {
				t.Error("linked by hand")
			}
			found := r.Candidates(t.Context())
			if len(found) != 1 || !strings.Contains(found[0].Why, "another user's program listens on port") {
				t.Errorf("%+v", found)
			}
			r.decidesAlone()
			if got := s.Got(); len(got) != 0 {
				t.Errorf("the stranger got %q", got)
			}
		})
	}
}

// decidesAlone has the terminal answer a question.
func (r *rig) decidesAlone() {
	r.Helper()
	req := r.proposal("old\n", "new\n")
	got := r.ask(r.Context(), req)
	<-r.terminal.shown
	r.terminal.answers <- yes
	if o, text := r.answered(got, req); text != "new\n" || o.By != "terminal" {
		r.Errorf("%+v with %q", o, text)
	}
}

// TestStrangerWithoutTheSecret: where the owner of a port is not looked at, proofs
// alone keep a stranger out who does not know the secret.
func TestStrangerWithoutTheSecret(t *testing.T) {
	t.Parallel()
	r := newRig(t, blind)
	e, path := r.leftover(idetest.Ours())
	s := idetest.StartStranger(t, e.Dialect, e.Port(), "")
	if err := r.Connect(t.Context(), path); err == nil || !strings.Contains(err.Error(), wire.ErrImpostor.Error()) {
		t.Errorf("got %v", err)
	}
	r.decidesAlone()
	for _, line := range s.Got() {
		if !strings.HasSuffix(line, " handshakes") {
			t.Errorf("the stranger got %s", line)
		}
	}
}

// TestPortTakenOverBetweenLinks: a linked editor dies, a stranger takes its port
// while the link is looked for again, the editor comes back elsewhere.
func TestPortTakenOverBetweenLinks(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	port, secret := e.Port(), e.Token()
	e.Stop()
	s := idetest.StartStranger(t, e.Dialect, port, secret)
	r.until("the reason", func() bool {
		return strings.Contains(r.Status().Why, "another user's program listens on port")
	})
	r.decidesAlone()
	e.Listen() // on another port
	e.WriteLock(r.locks, r.dir)
	if err := os.Remove(filepath.Join(r.locks, strconv.Itoa(port)+".lock")); err != nil {
		t.Error(err)
	}
	if err := r.Connect(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	e.WaitConns(1)
	if got := s.Got(); len(got) != 0 {
		t.Errorf("the stranger got %q", got)
	}
}

// TestDeadProcessIsNotLinked: the lock of a dead process is not linked by itself,
// though an editor of this user answers that knows the secret; by hand it is.
func TestDeadProcessIsNotLinked(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := idetest.Start(t, idetest.Ours())
	e.PID = 1 << 30
	path := e.WriteLock(r.locks, r.dir)
	if err := r.Connect(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	e.Drop()
	r.until("the reason", func() bool { return strings.Contains(r.Status().Why, "the lock file seems left over") })
	if a, _ := e.Handshakes(); a != 1 {
		t.Errorf("%d links", a)
	}
}

// TestOnlyEditorsOfTheFolder: neither a request for any editor nor the loss of the link
// leads to an editor that has another folder open.
func TestOnlyEditorsOfTheFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	other := idetest.Start(t, idetest.Ours())
	path := other.WriteLock(r.locks, t.TempDir())
	for _, which := range []string{"", path} {
		if err := r.Connect(t.Context(), which); err == nil {
			t.Errorf("linked to an editor of another folder (%q)", which)
		}
	}
	e := idetest.Start(t, idetest.Ours())
	e.WriteLock(r.locks, r.dir)
	if err := r.Connect(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	e.Stop()
	r.until("the reason", func() bool { return strings.Contains(r.Status().Why, "nothing answers on port") })
	if a, refused := other.Handshakes(); a+refused != 0 {
		t.Error("linked to an editor of another folder")
	}
}

// TestWishHoldsOnce: an editor of another program that was there when a person asked
// for any is not linked by itself later.
func TestWishHoldsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := idetest.Start(t, idetest.Ours())
	e.WriteLock(r.locks, r.dir)
	if err := r.Connect(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	neovim := idetest.Start(t, idetest.Neovim())
	neovim.WriteLock(r.folder(neovim.Dialect), r.dir)
	e.Stop()
	r.until("the reason", func() bool {
		return strings.HasPrefix(r.Status().Why, "Neovim has this folder open, but: it is another program's editor")
	})
	if a, refused := neovim.Handshakes(); a+refused != 0 {
		t.Error("linked unasked")
	}
}
