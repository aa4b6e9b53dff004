//go:build unix && network

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

func init() { //nolint:gochecknoinits // other systems have no such program
	programs["recorder"] = record
}

// record runs an agent and writes the messages in both directions to files in the folder
// that is the first argument.
func record() {
	if err := recordTo(os.Args[1], exec.Command(os.Args[2], os.Args[3:]...)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func recordTo(dir string, cmd *exec.Cmd) error {
	var files [2]*os.File
	for i, name := range []string{"in", "out"} {
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.%s", os.Getpid(), name)))
		if err != nil {
			return err
		}
		files[i] = file
	}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, files[1]), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.MultiWriter(files[0], in), os.Stdin)
		_ = in.Close()
	}()
	return cmd.Wait()
}

// TestPublicClients drives whole sessions with the official TypeScript SDK and with a Go SDK
// of other authors, and checks each message against the official schema. It downloads both.
func TestPublicClients(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	for _, name := range []string{"client.mjs", "validate.mjs", "package.json", "package-lock.json", "client.go", "go.mod", "go.sum"} {
		source := filepath.Join("testdata", "acp", name)
		if strings.HasPrefix(filepath.Ext(name), ".go") || strings.HasPrefix(name, "go.") {
			source += ".txt" // not a part of this module
		}
		scratch.Write(t, filepath.Join(work, name), scratch.Read(t, source))
	}
	in(t, work, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	in(t, work, "go", "build", "-o", "client", ".")
	for name, client := range map[string][]string{"TypeScript": {"node", filepath.Join(work, "client.mjs")}, "Go": {filepath.Join(work, "client")}} {
		t.Run(name, func(t *testing.T) {
			edit := func(from, to string) llmtest.Turn {
				return callOf("edit_file", `{"path":"a.txt","old_string":"`+from+`","new_string":"`+to+`"}`)
			}
			done := llmtest.Turn{Text: "Done."}
			d := newDesk(t, llmtest.NewServer(t,
				edit("one", "two"), edit("one", "two"), done, edit("two", "three"), edit("three", "four"), done,
				callOf("execute_command", `{"command":"echo made > made; cat made"}`), done, callOf("mcp__test__echo", `{"text":"hello"}`), done,
				llmtest.Turn{Text: "A long answer", Chunk: 2, Fault: llmtest.Stall, After: 2}, callOf("execute_command", `{"command":"touch b.txt"}`), done, done,
			), map[string]string{"a.txt": "one\n"})
			d.env = append(d.env, "AGENT_MODEL=corp/m", "CORP_KEY="+canary)
			d.keep("config.yaml", "providers:\n  corp: {base_url: "+d.server.URL()+", api_key_env: CORP_KEY, context_window: 50000, models: {m: {images: true}, test-model: {images: true}}}\n")
			d.keep("servers.json", `[{"address":"`+d.server.URL()+`","provider":"corp"}]`)
			records := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, client[0], append(client[1:], d.dir, os.Args[0], "recorder", records, "agent", "acp")...)
			cmd.Dir, cmd.Env = work, d.env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if body := string(d.request(12)); !strings.Contains(body, "data:image/png;base64,") || !strings.Contains(body, `"model":"test-model"`) {
				t.Errorf("%s", body)
			}
			if got := d.read("made"); got != "made\n" {
				t.Errorf("the command wrote %q", got)
			}
			runs, err := filepath.Glob(filepath.Join(records, "*.out"))
			if err != nil || len(runs) != 2 {
				t.Fatalf("%v, %v", runs, err)
			}
			for _, out := range runs {
				said := in(t, work, "node", "validate.mjs", out, strings.TrimSuffix(out, ".out")+".in")
				t.Logf("%s messages are valid", strings.TrimSpace(said))
				if n, err := strconv.Atoi(strings.TrimSpace(said)); err != nil || n < 10 {
					t.Errorf("%s: %v", said, err)
				}
			}
		})
	}
}

// in runs a program in a folder and returns its output.
func in(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}
