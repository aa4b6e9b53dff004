package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// A check finds the caches of its programs also in a home that has none yet.
func TestCheckInANewHome(t *testing.T) {
	if offer := sandbox.Probe(t.Context()); offer.Missing != "" {
		t.Skip(offer.Missing)
	}
	base := t.TempDir()
	a := newApp(t)
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_CACHE_HOME", "GOCACHE", "GOPATH", "GOMODCACHE"} {
		t.Setenv(name, "")
	}
	policy, missing := a.checkSandbox(t.Context())
	if missing != "" {
		t.Fatal(missing)
	}
	cmd := exec.Command("go", "vet", "-n", "fmt")
	cmd.Dir = base
	if err := policy.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("go vet: %v", err)
	}
	if _, err := os.Stat(filepath.Join(home, ".cache", "go-build")); err != nil {
		t.Error(err)
	}
}
