package main

import (
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestServersRunInARoom: where the system has trials, a language server runs in a room, in which it knows the folder as it is; a
// session that is killed leaves none.
func TestServersRunInARoom(t *testing.T) {
	t.Parallel()
	bin := goBin(t)
	files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "shapes.go": "package m\n\nfunc Area(side int) int { return side * side }\n"}
	d := trialDesk(t, files,
		callOf("find_references", `{"symbol":"Area"}`), callOf("write_file", `{"path":"use.go","content":"package m\n\nvar big = Area(3)\n"}`),
		callOf("rename_symbol", `{"symbol":"Area","at":"use.go:3","new_name":"Surface"}`), llmtest.Turn{Text: "Done."})
	d.keep("config.yaml", "permissions: {allow: [run(gopls)]}\n")
	d.env = append(d.env, "AGENT_LANGUAGE_SERVERS=auto", "PATH="+bin+":"+os.Getenv("PATH"))
	if code, said := d.command("-p", "rename it", "--permission-mode", "accept-edits"); code != 0 {
		t.Fatalf("%d, %s", code, said)
	}
	if got := d.told(1); !strings.Contains(got, "shapes.go:3: func Area") {
		t.Errorf("the model was told %q", got)
	}
	if got := d.read("use.go"); got != "package m\n\nvar big = Surface(3)\n" {
		t.Errorf("use.go is %q; the model was told %q, then %q", got, d.told(2), d.told(3))
	}
	k := trialDesk(t, files)
	k.server = renamingServer(t)
	k.env = append(k.env, "OPENAI_BASE_URL="+k.server.URL())
	k.allow(k.server.URL())
	killedWith(t, k, `It\s+runs\s+isolated`)
}
