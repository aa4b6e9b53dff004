package keystore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

const address = "https://api.example.com/v1"

// bare removes the keyring from the environment.
func bare(t *testing.T) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", "")
	keyring.MockInitWithError(errors.New("no keyring"))
}

func TestWithoutAKeyringThereIsAFile(t *testing.T) {
	bare(t)
	s := Open(filepath.Join(t.TempDir(), "home"))
	if key, err := s.Get(t.Context(), address); key != "" || err != nil || s.Has(address) {
		t.Error(key, err)
	}
	where, err := s.Put(t.Context(), address, "sk-canary")
	if err != nil || where != s.file() {
		t.Fatal(where, err)
	}
	if info, err := os.Stat(where); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if key, err := s.Get(t.Context(), address); key != "sk-canary" || err != nil || !s.Has(address) {
		t.Error(key, err)
	}
	if key, err := s.Get(t.Context(), address+"x"); key != "" || err != nil {
		t.Error("another address gets the key", key, err)
	}
}

func TestTheKeyringComesFirst(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	keyring.MockInit()
	s := Open(t.TempDir())
	if where, err := s.Put(t.Context(), address, "sk-canary"); err != nil || where != "the system's keyring" {
		t.Fatal(where, err)
	}
	if data, err := os.ReadFile(s.file()); err != nil || strings.Contains(string(data), "canary") {
		t.Errorf("%s, %v", data, err)
	}
	if key, err := s.Get(t.Context(), address); key != "sk-canary" || err != nil {
		t.Error(key, err)
	}
	keyring.MockInitWithError(errors.New("locked"))
	if _, err := s.Get(t.Context(), address); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Error(err)
	}
	if where, err := s.Put(t.Context(), address, "sk-other"); err != nil || where != s.file() {
		t.Error("a keyring that fails is none:", where, err)
	}
}

// A login to an MCP server is no API key.
func TestCount(t *testing.T) {
	bare(t)
	s := Open(t.TempDir())
	for _, name := range []string{address, Login(address), Login(address + "2")} {
		if _, err := s.Put(t.Context(), name, "k"); err != nil {
			t.Fatal(err)
		}
	}
	if keys, logins, err := s.Count(); keys != 1 || logins != 2 || err != nil {
		t.Error(keys, logins, err)
	}
}

func TestABrokenFile(t *testing.T) {
	bare(t)
	s := Open(t.TempDir())
	scratch.Write(t, s.file(), `{"a":{"key":"sk-canary"`)
	_, err := s.Get(t.Context(), "a")
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Error(err)
	}
	if n, logins, err := s.Count(); n != 0 || logins != 0 || err == nil {
		t.Error(n, logins, err)
	}
	if _, err := s.Put(t.Context(), "a", "k"); err == nil {
		t.Error("it was written over")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, "a", "k"); err == nil {
		t.Error("no error")
	}
}
