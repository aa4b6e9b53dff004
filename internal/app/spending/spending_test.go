package spending

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDays(t *testing.T) {
	now := time.Date(2026, 11, 22, 23, 59, 0, 0, time.Local)
	l := Open(t.TempDir(), func() time.Time { return now })
	add := func(usd, want float64) {
		t.Helper()
		if err := l.Add(t.Context(), usd); err != nil {
			t.Fatal(err)
		}
		if got, err := l.Today(); err != nil || got != want {
			t.Errorf("today %v, %v; want %v", got, err, want)
		}
	}
	add(0.5, 0.5)
	add(0.25, 0.75)
	now = now.Add(2 * time.Minute)
	if got, err := l.Today(); err != nil || got != 0 {
		t.Errorf("the next day begins with %v, %v", got, err)
	}
	add(1, 1)
}

func TestManyProcesses(t *testing.T) {
	home := t.TempDir()
	var work sync.WaitGroup
	for range 8 {
		l := Open(home, time.Now)
		work.Go(func() {
			for range 10 {
				if err := l.Add(t.Context(), 0.125); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	if got, err := Open(home, time.Now).Today(); err != nil || math.Abs(got-10) > 1e-9 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestMalformed(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "spending.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := Open(home, time.Now)
	_, err := l.Today()
	for _, err := range []error{err, l.Add(t.Context(), 1)} {
		if err == nil || !strings.Contains(err.Error(), "spending.json") {
			t.Errorf("%v", err)
		}
	}
}
