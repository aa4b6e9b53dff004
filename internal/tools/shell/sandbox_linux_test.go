package shell_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// strayLine leaves a process with another session, environment and output, which is a
// stray without a sandbox.
const strayLine = `env -i setsid sleep TOKEN >/dev/null 2>&1 & ` +
	`until read -r _ name _ _ _ sid _ </proc/$!/stat && [ "$name $sid" = "(sleep) $!" ]; do sleep 0.01; done`

// confined returns the options of a line in a sandbox.
func confined(t *testing.T, line string) shell.Options {
	t.Helper()
	if o := sandbox.Probe(t.Context()); o.Missing != "" {
		t.Skip(o.Missing)
	}
	dir := t.TempDir()
	return shell.Options{Line: line, Dir: dir, SpillDir: t.TempDir(), Sandbox: &sandbox.Policy{Write: []string{dir}}}
}

// TestNothingSurvivesInASandbox: the limits of a sandbox also identify its processes.
func TestNothingSurvivesInASandbox(t *testing.T) {
	all := maps.Clone(trees)
	all["no trace"] = strayLine
	all["another mark"] = strings.Replace(strayLine, "env -i", "env -i AGENT_COMMAND=other", 1)
	all["no trace, new parent"] = "(" + strayLine + ")"
	for name, line := range all {
		t.Run(name, func(t *testing.T) {
			n := token()
			j := shell.NewJobs()
			defer closeJobs(t, j)
			res, err := j.Run(t.Context(), confined(t, strings.ReplaceAll(line, "TOKEN", n)+"\n echo done"))
			if err != nil || res.ExitCode != 0 || !strings.Contains(res.Output, "done\n") {
				t.Errorf("%+v, %v", res, err)
			}
			if left := alive(t, n); left != nil {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestSandboxInTheBackground: with two commands in a sandbox each ends its own strays, and
// none of the other's processes. Where the system cannot tell them apart, they end with the last.
func TestSandboxInTheBackground(t *testing.T) {
	n := token()
	j := shell.NewJobs()
	server := confined(t, "sleep 1000")
	job, err := j.Start(server)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Run(t.Context(), confined(t, strings.ReplaceAll(strayLine, "TOKEN", n))); err != nil {
		t.Fatal(err)
	}
	distinct := sandbox.Probe(t.Context()).Gaps == nil
	if ended := alive(t, n) == nil; ended != distinct {
		t.Errorf("the stray ended with its command: %v", ended)
	}
	if all := j.List(); len(all) != 1 || !all[0].Running || all[0].ID != job.ID {
		t.Errorf("the other command was ended: %+v", all)
	}
	closeJobs(t, j)
	if left := alive(t, n); left != nil {
		t.Errorf("left %q", left)
	}
}

// TestSandboxLimits: commands run as ever in a sandbox, and write nowhere else.
func TestSandboxLimits(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "f")
	j := shell.NewJobs()
	defer closeJobs(t, j)
	opts := confined(t, "echo x >inside && cat inside; echo x >"+outside)
	res, err := j.Run(t.Context(), opts)
	if err != nil || res.ExitCode != 1 || !strings.HasPrefix(res.Output, "x\n") || !strings.Contains(res.Output, outside+": Permission denied") {
		t.Errorf("%+v, %v", res, err)
	}
	opts.Sandbox = nil
	if res, err = j.Run(t.Context(), opts); err != nil || res.ExitCode != 0 {
		t.Errorf("without a sandbox: %+v, %v", res, err)
	}
}
