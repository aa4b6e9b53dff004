package keystore

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

// A key that the Credential Manager takes is there, one of any length is kept, and none stays where it
// was before. The test has a process of its own: the keyring that other tests pretend to have stays.
func TestLongKeysInTheCredentialManager(t *testing.T) {
	const alone = "KEYSTORE_TEST_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	s := Open(t.TempDir())
	address := address + "/" + t.Name()
	t.Cleanup(func() {
		if _, err := s.Delete(context.WithoutCancel(t.Context()), address); err != nil {
			t.Error(err)
		}
	})
	const most = 2560
	for _, size := range []int{20, most, most + 1, 30_000, 20, 9_000} {
		key := strings.Repeat("k", size)
		want := s.file()
		if size <= most {
			want = "the system's keyring"
		}
		if where, err := s.Put(t.Context(), address, key); where != want || err != nil {
			t.Fatalf("a key of %d bytes is in %q, want %q: %v", size, where, want, err)
		}
		if got, err := s.Get(t.Context(), address); got != key || err != nil {
			t.Errorf("of a key of %d bytes %d came back: %v", size, len(got), err)
		}
		if held, err := keyring.Get(service, address); (err == nil) != (size <= most) || err != nil && !errors.Is(err, keyring.ErrNotFound) {
			t.Errorf("with a key of %d bytes the keyring holds %d: %v", size, len(held), err)
		}
	}
}
