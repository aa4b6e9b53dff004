//go:build unix

package effects_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// BenchmarkRound is the cost of a command beyond its own: Start and End, with the files
// copied already.
func BenchmarkRound(b *testing.B) {
	for _, n := range []int{2_000, 50_000} {
		for _, changed := range []int{0, 4} {
			b.Run(fmt.Sprintf("%d files, %d changed", n, changed), func(b *testing.B) { round(b, n, changed) })
		}
	}
}

// BenchmarkFirst is the cost of the first command: all files are copied.
func BenchmarkFirst(b *testing.B) {
	for _, n := range []int{2_000, 50_000} {
		b.Run(fmt.Sprintf("%d files", n), func(b *testing.B) {
			root, home := project(b, n)
			for b.Loop() {
				tracker := effects.New(root, effects.Options{Home: home})
				if _, err := tracker.Start(b.Context(), effects.Command{}); err != nil {
					b.Fatal(err)
				}
				if err := tracker.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// project makes a workspace of n files of 4 KB in folders of 20.
func project(b *testing.B, n int) (root *workspace.Root, home string) {
	b.Helper()
	dir, home := scratch.Dir(b, nil), b.TempDir()
	text := make([]byte, 4<<10)
	for i := range n {
		at := filepath.Join(dir, fmt.Sprint(i/2000), fmt.Sprint(i/20))
		if i%20 == 0 {
			scratch.Mkdir(b, at)
		}
		if err := os.WriteFile(filepath.Join(at, fmt.Sprint(i)), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return scratch.Workspace(b, dir, workspace.Options{Home: home}), home
}

func round(b *testing.B, n, changed int) {
	root, home := project(b, n)
	tracker := effects.New(root, effects.Options{Home: home})
	run, err := tracker.Start(b.Context(), effects.Command{})
	if err != nil {
		b.Fatal(err)
	}
	run.End(b.Context())
	i := 0
	for b.Loop() {
		run, err := tracker.Start(b.Context(), effects.Command{})
		if err != nil {
			b.Fatal(err)
		}
		for c := range changed {
			i++
			if err := os.WriteFile(filepath.Join(root.Dir(), "0", "0", fmt.Sprint(c)), fmt.Append(nil, i), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		if report := run.End(b.Context()); len(report.Files) != changed || report.Err != nil {
			b.Fatal(report)
		}
	}
	b.StopTimer()
	if err := tracker.Close(); err != nil {
		b.Error(err)
	}
}
