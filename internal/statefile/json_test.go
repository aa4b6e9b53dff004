package statefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSON(t *testing.T) {
	file := JSON[map[string]int]{Path: filepath.Join(t.TempDir(), "new", "counts.json")}
	if v, err := file.Read(); v != nil || err != nil {
		t.Errorf("no file: %v, %v", v, err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := file.Change(t.Context(), func(v map[string]int) map[string]int {
				return map[string]int{"n": v["n"] + 1}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	v, err := file.Read()
	if diff := cmp.Diff(map[string]int{"n": 8}, v); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := os.ReadFile(file.Path); string(got) != "{\n  \"n\": 8\n}\n" || err != nil {
		t.Errorf("holds %q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lock, err := TryAcquire(file.Path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Change(ctx, func(v map[string]int) map[string]int { return v }); !errors.Is(err, context.Canceled) {
		t.Error("changed while locked:", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestMalformedJSONIsNotOverwritten(t *testing.T) {
	file := JSON[[]int]{Path: filepath.Join(t.TempDir(), "list.json")}
	if err := os.WriteFile(file.Path, []byte("[1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := file.Read(); v != nil || !errors.Is(err, ErrMalformed) {
		t.Errorf("%v, %v", v, err)
	}
	if err := file.Change(t.Context(), func([]int) []int { return nil }); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	if got, err := os.ReadFile(file.Path); string(got) != "[1" || err != nil {
		t.Errorf("holds %q, %v", got, err)
	}
}
