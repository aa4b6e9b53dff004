package pluginargs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlagsOfPlugins(t *testing.T) {
	type list = []string
	for name, tt := range map[string]struct{ args, kept, ignored list }{
		"Emacs": {
			list{"-r", "--append-system-prompt", "IMPORTANT: -p", "--mcp-config", `{"mcpServers":{}}`, "--allowedTools", "mcp__emacs-tools__xref", "mcp__ide", "Read"},
			list{"-r"},
			list{"--append-system-prompt", "--mcp-config", "--allowedTools"},
		},
		"debug":                   {list{"-d", "-c"}, list{"-c"}, list{"-d"}},
		"joined":                  {list{"--append-system-prompt=x", "hello"}, list{"hello"}, list{"--append-system-prompt"}},
		"a prompt":                {list{"--allowedTools", "Bash(git:*)", "say hello"}, list{"say hello"}, list{"--allowedTools"}},
		"no value":                {list{"--mcp-config"}, list{}, list{"--mcp-config"}},
		"after --":                {list{"--", "--mcp-config"}, list{"--", "--mcp-config"}, nil},
		"a prompt that is a flag": {list{"-p", "--allowedTools=Bash"}, list{"-p", "--allowedTools=Bash"}, nil},
		"our own":                 {list{"--model", "a/b", "-p", "x"}, list{"--model", "a/b", "-p", "x"}, nil},
		"none at all":             {nil, list{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Split(tt.args)
			if diff := cmp.Diff([]list{tt.kept, tt.ignored}, []list{got.Rest, got.Ignored}); diff != "" {
				t.Error(diff)
			}
		})
	}
	got := Split(list{"--allowedTools", "Bash(go vet *),Edit", "Read", "-p", "x", "--disallowed-tools=Write"})
	if diff := cmp.Diff([]list{{"Bash(go vet *),Edit", "Read"}, {"Write"}}, []list{got.allowed, got.denied}); diff != "" {
		t.Error(diff)
	}
}
