package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file that somebody else holds is tried again, for a while.
func TestPatience(t *testing.T) {
	held, other := errors.New("held"), errors.New("other")
	for _, c := range []struct {
		name  string
		fails int
		err   error
		want  error
		calls int
	}{
		{"at once", 0, nil, nil, 1},
		{"held for a moment", 3, held, nil, 4},
		{"another fault", 3, other, other, 1},
		{"held for ever", 1 << 30, held, held, int(busyTime/busyPause) + 1},
	} {
		clock, calls := time.Unix(0, 0), 0
		err := patiently(func() error {
			if calls++; calls <= c.fails {
				return c.err
			}
			return nil
		}, func(err error) bool { return errors.Is(err, held) }, func() time.Time { return clock }, func(d time.Duration) { clock = clock.Add(d) })
		if !errors.Is(err, c.want) || calls != c.calls {
			t.Errorf("%s: %v after %d calls, want %v after %d", c.name, err, calls, c.want, c.calls)
		}
	}
}

// A reader in another program does not keep a file from being replaced.
func TestWriteWhileItIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() { closed <- reader.Close() })
	if err := Write(path, []byte("new")); err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); string(got) != "new" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
