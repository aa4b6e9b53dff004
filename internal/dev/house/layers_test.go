package house

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMain enters the root of the repository, which the tests read.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const module = "github.com/bb2d0cf4/agent"

// layers is the import table. A package may import only the listed packages of this
// module; tests may import any. An entry that ends in /* allows every package below it.
var layers = []struct {
	pkg string
	may []string
}{
	// Leaves: they import only other leaves.
	{"internal/cells", nil},
	{"internal/chatgpt", []string{"internal/crash", "internal/lazyregexp", "internal/loopback", "internal/peer", "internal/statefile"}},
	{"internal/loopback", []string{"internal/crash"}},
	{"internal/crash", nil},
	{"internal/caution", []string{"internal/diff", "internal/sanitize"}},
	{"internal/child", nil},
	{"internal/config/catalog", []string{"internal/lazyregexp"}},
	{"internal/config", []string{"internal/config/catalog", "internal/lazyregexp", "internal/lookpath", "internal/mcp/servername", "internal/nearest", "internal/statefile"}},
	{"internal/diff", nil},
	{"docs", nil},
	{"editors/vscode", nil},
	{"internal/editor", nil},
	{"internal/audit", []string{"internal/statefile", "internal/timelimit"}},
	{"internal/footprint", []string{"internal/child", "internal/lazyregexp", "internal/lookpath", "internal/programs", "internal/regularfile", "internal/shellline"}},
	{"internal/fuzzy", nil},
	{"internal/gitignore", []string{"internal/regularfile"}},
	{"internal/glob", nil},
	{"internal/imagefile", nil},
	{"internal/early", nil},
	{"internal/jsonrpc", []string{"internal/crash", "internal/sanitize"}},
	{"internal/lazyregexp", nil},
	{"internal/llm/lenient", nil},
	{"internal/llm", []string{"internal/lazyregexp", "internal/llm/lenient"}},
	{"internal/langserver", []string{"internal/child", "internal/crash", "internal/editor", "internal/jsonrpc", "internal/lookpath", "internal/sanitize", "internal/subpath", "internal/timelimit"}},
	{"internal/lookpath", []string{"internal/gitignore", "internal/regularfile"}},
	{"internal/nearest", nil},
	{"internal/notebook", []string{"internal/sanitize"}},
	{"internal/peer", nil},
	{"internal/programs", []string{"internal/lazyregexp"}},
	{"internal/clip", nil},
	{"internal/hexsum", nil},
	{"internal/plural", nil},
	{"internal/regularfile", nil},
	{"internal/room", []string{"internal/early", "internal/sandbox"}},
	{"internal/sandbox", []string{"internal/lookpath"}},
	{"internal/sanitize", nil},
	{"internal/shellline", nil},
	{"internal/statefile", nil},
	{"internal/subpath", nil},
	{"internal/timelimit", nil},
	{"internal/tlsfault", []string{"internal/sanitize"}},

	{"internal/tools/shell", []string{"internal/child", "internal/lazyregexp", "internal/lookpath", "internal/sandbox", "internal/workspace/text"}},
	{"internal/llm/toolschema", []string{"internal/lazyregexp"}},
	{"internal/answerschema", []string{"internal/regularfile"}},
	{"internal/llm/anthropic", []string{"internal/lazyregexp", "internal/llm", "internal/llm/remote", "internal/llm/toolschema"}},
	{"internal/llm/openai", []string{"internal/lazyregexp", "internal/llm", "internal/llm/openai/wire", "internal/llm/remote", "internal/llm/toolschema"}},
	{"internal/llm/openai/local", []string{"internal/lazyregexp", "internal/llm/remote", "internal/peer", "internal/timelimit"}},
	{"internal/llm/openai/wire", []string{"internal/llm/remote"}},
	{"internal/mcp/servername", []string{"internal/lazyregexp"}},
	{"internal/mcp", []string{"internal/child", "internal/imagefile", "internal/lazyregexp", "internal/llm", "internal/llm/toolschema", "internal/lookpath", "internal/loopback", "internal/peer", "internal/sanitize", "internal/statefile", "internal/tlsfault"}},
	{"internal/llm/remote", []string{"internal/lazyregexp", "internal/llm", "internal/peer", "internal/tlsfault"}},
	{"internal/llm/responses", []string{"internal/lazyregexp", "internal/llm", "internal/llm/remote", "internal/llm/toolschema"}},
	{"internal/llm/script", []string{"internal/llm"}},
	{"internal/llm/written", []string{"internal/lazyregexp", "internal/llm", "internal/llm/lenient"}},
	{"internal/workspace", []string{
		"internal/statefile", "internal/workspace/journal", "internal/workspace/text",
	}},
	{"internal/workspace/effects", []string{"internal/diff", "internal/gitignore", "internal/statefile", "internal/workspace"}},
	{"internal/workspace/journal", []string{"internal/statefile"}},
	{"internal/workspace/text", nil},
	{"internal/workspace/undo", []string{
		"internal/diff", "internal/workspace", "internal/workspace/journal", "internal/workspace/text",
	}},
	{"internal/confirm", []string{"internal/caution", "internal/diff", "internal/sanitize", "internal/workspace"}},
	{"internal/check", []string{"internal/confirm", "internal/editor", "internal/langserver", "internal/gitignore", "internal/lazyregexp", "internal/regularfile", "internal/sandbox", "internal/sanitize", "internal/shellline", "internal/tools/shell", "internal/workspace"}},
	{"internal/permission", []string{"internal/confirm", "internal/footprint", "internal/glob", "internal/lazyregexp", "internal/programs", "internal/sanitize", "internal/shellline", "internal/workspace"}},

	{"internal/trial", []string{"internal/early", "internal/lookpath", "internal/gitignore", "internal/lazyregexp", "internal/permission", "internal/regularfile", "internal/room", "internal/sandbox", "internal/shellline", "internal/tools/shell", "internal/workspace"}},

	{"internal/tools/args", []string{"internal/llm/lenient", "internal/nearest"}},
	{"internal/tools/edit", []string{"internal/diff", "internal/lazyregexp"}},
	{"internal/tools/pending", []string{"internal/caution", "internal/tools/edit", "internal/workspace"}},
	{"internal/tools/shell/safecmd", []string{"internal/child", "internal/confirm", "internal/lazyregexp", "internal/lookpath", "internal/permission", "internal/programs", "internal/sanitize", "internal/shellline"}},
	{"internal/tools/search", []string{"internal/child", "internal/gitignore", "internal/glob", "internal/lookpath", "internal/regularfile", "internal/workspace/text"}},
	{"internal/tools/web", []string{"internal/tlsfault", "internal/workspace/text"}},
	{"internal/tools/toolcall", []string{"internal/confirm", "internal/diff", "internal/llm", "internal/workspace", "internal/workspace/effects"}},
	{"internal/tools/access", []string{"internal/nearest", "internal/permission", "internal/workspace"}},
	{"internal/tools/change", []string{"internal/caution", "internal/confirm", "internal/diff", "internal/editor", "internal/permission", "internal/tools/access", "internal/tools/edit", "internal/tools/pending", "internal/tools/toolcall", "internal/workspace"}},
	{"internal/tools", []string{"internal/langserver", "internal/trial", "internal/caution", "internal/confirm", "internal/editor", "internal/imagefile", "internal/llm", "internal/lookpath", "internal/mcp", "internal/nearest", "internal/notebook", "internal/permission", "internal/programs", "internal/sandbox", "internal/sanitize", "internal/statefile", "internal/tools/access", "internal/tools/args", "internal/tools/change", "internal/tools/edit", "internal/tools/search", "internal/tools/shell", "internal/tools/shell/safecmd", "internal/tools/toolcall", "internal/tools/web", "internal/workspace", "internal/workspace/effects"}},
	{"internal/context", []string{"internal/editor", "internal/lazyregexp", "internal/workspace"}},

	{"internal/session/archive", []string{"internal/cells", "internal/llm", "internal/session/history", "internal/statefile"}},
	{"internal/session/compact", []string{"internal/llm", "internal/session/history", "internal/session/meter"}},
	{"internal/session/history", []string{"internal/llm"}},
	{"internal/session/meter", []string{"internal/llm"}},
	{"internal/session", []string{
		"internal/confirm", "internal/llm", "internal/session/archive", "internal/session/compact",
		"internal/session/history", "internal/session/meter", "internal/tools",
	}},
	{"internal/acp", []string{"internal/app", "internal/app/allowedservers", "internal/app/command", "internal/app/commands", "internal/app/provider", "internal/app/setup", "internal/app/usercommands", "internal/config", "internal/confirm", "internal/jsonrpc", "internal/llm", "internal/mcp", "internal/mcp/servername", "internal/permission", "internal/sanitize", "internal/session", "internal/session/archive", "internal/session/history", "internal/timelimit", "internal/tools", "internal/tools/shell", "internal/workspace"}},
	{"internal/headless", []string{"internal/answerschema", "internal/app/setup", "internal/llm", "internal/permission", "internal/regularfile", "internal/sanitize", "internal/session", "internal/tools", "internal/workspace/text"}},

	{"internal/repl", []string{
		"internal/cells",
		"internal/app", "internal/app/command", "internal/app/home", "internal/app/subagents", "internal/confirm", "internal/llm", "internal/nearest", "internal/repl/*",
		"internal/sanitize", "internal/session", "internal/tools/shell",
	}},
	{"internal/app/command", []string{"internal/llm", "internal/plural", "internal/repl/pager", "internal/repl/theme", "internal/session/history"}},
	{"internal/repl/desktop", []string{"internal/cells", "internal/sanitize"}},
	{"internal/repl/dialog", []string{
		"internal/repl/keys",
		"internal/cells", "internal/confirm",
		"internal/repl/keyboard", "internal/repl/jobcontrol", "internal/repl/picker", "internal/repl/screen", "internal/repl/theme",
		"internal/sanitize",
	}},
	{"internal/repl/diffview", []string{"internal/caution", "internal/cells", "internal/diff", "internal/repl/highlight", "internal/repl/paint", "internal/repl/pager", "internal/sanitize", "internal/repl/theme"}},
	{"internal/repl/stream", []string{
		"internal/repl/markdown", "internal/repl/theme", "internal/session",
	}},
	{"internal/repl/input", []string{"internal/repl/keys", "internal/cells", "internal/fuzzy", "internal/repl/input/edit", "internal/repl/input/vi", "internal/repl/paint", "internal/sanitize", "internal/repl/theme"}},
	{"internal/repl/input/edit", []string{"internal/repl/keys", "internal/cells", "internal/sanitize"}},
	{"internal/repl/input/vi", []string{"internal/repl/keys", "internal/repl/input/edit"}},
	{"internal/repl/keyboard", nil},
	{"internal/repl/keys", []string{"internal/cells", "internal/nearest", "internal/regularfile", "internal/sanitize"}},
	{"internal/repl/keys/keystest", nil},
	{"internal/repl/jobcontrol", []string{"internal/repl/screen"}},
	{"internal/repl/markdown", []string{"internal/cells", "internal/repl/highlight", "internal/repl/paint", "internal/sanitize", "internal/repl/theme"}},
	{"internal/repl/pager", []string{"internal/repl/keys", "internal/cells", "internal/repl/markdown", "internal/repl/paint", "internal/repl/theme", "internal/sanitize"}},
	{"internal/repl/picker", []string{"internal/repl/keys", "internal/cells", "internal/fuzzy", "internal/repl/paint", "internal/sanitize", "internal/repl/theme"}},
	{"internal/repl/plain", []string{
		"internal/confirm", "internal/diff", "internal/llm", "internal/nearest", "internal/app", "internal/app/command", "internal/repl/diffview", "internal/repl/pager",
		"internal/repl/input/edit", "internal/repl/theme", "internal/sanitize", "internal/session", "internal/workspace",
	}},
	{"internal/repl/panel", []string{"internal/repl/keys", "internal/caution", "internal/cells", "internal/confirm", "internal/repl/diffview", "internal/repl/input", "internal/repl/markdown", "internal/repl/theme", "internal/sanitize", "internal/workspace"}},
	{"internal/repl/record", []string{
		"internal/llm", "internal/repl/diffview", "internal/repl/markdown", "internal/repl/pager", "internal/repl/theme", "internal/sanitize", "internal/session/history",
	}},
	{"internal/repl/printer", []string{
		"internal/cells",
		"internal/llm", "internal/repl/diffview", "internal/repl/markdown", "internal/repl/record", "internal/repl/screen",
		"internal/repl/theme", "internal/sanitize", "internal/session", "internal/session/history",
	}},
	{"internal/repl/theme", []string{"internal/cells", "internal/repl/paint"}},
	{"internal/repl/highlight", []string{"internal/repl/paint", "internal/repl/theme"}},
	{"internal/repl/paint", []string{"internal/cells"}},
	{"internal/repl/screen", []string{"internal/cells", "internal/repl/paint"}},

	{"internal/ide/activity", nil},
	{"internal/ide/proof", nil},
	{"internal/ide/lock", []string{"internal/ide/proof", "internal/peer", "internal/regularfile"}},
	{"internal/ide/wire", []string{"internal/ide/proof", "internal/peer"}},
	{"internal/ide/client", []string{"internal/diff", "internal/editor", "internal/ide/lock", "internal/ide/wire", "internal/lazyregexp", "internal/peer"}},
	{"internal/ide", []string{"internal/caution", "internal/confirm", "internal/diff", "internal/editor", "internal/ide/activity", "internal/ide/client", "internal/ide/lock", "internal/ide/wire", "internal/regularfile", "internal/sanitize", "internal/workspace"}},

	{"internal/demo", []string{"internal/statefile"}},
	{"internal/app/languages", []string{"internal/config", "internal/langserver"}},
	{"internal/app", []string{"internal/answerschema", "internal/app/languages", "internal/langserver", "internal/shellline", "internal/trial", "internal/app/allowedservers", "internal/app/attachments", "internal/app/clipboard", "internal/app/home", "internal/app/hooks", "internal/app/idelink", "internal/app/keystore", "internal/app/provider", "internal/app/setup", "internal/app/skills", "internal/app/sources", "internal/app/spending", "internal/app/subagents", "internal/audit", "internal/caution", "internal/check", "internal/config", "internal/confirm", "internal/context", "internal/editor", "internal/ide", "internal/diff", "internal/footprint", "internal/llm", "internal/mcp", "internal/permission", "internal/sandbox", "internal/sanitize", "internal/session", "internal/session/archive", "internal/session/history", "internal/statefile", "internal/tools", "internal/tools/access", "internal/tools/change", "internal/tools/pending", "internal/tools/shell", "internal/tools/shell/safecmd", "internal/tools/toolcall", "internal/tools/web", "internal/workspace", "internal/workspace/effects"}},
	{"internal/app/setup", []string{"internal/app/hooks", "internal/app/skills", "internal/app/sources", "internal/app/subagents", "internal/app/trust", "internal/config", "internal/confirm", "internal/context", "internal/footprint", "internal/permission", "internal/tools/shell/safecmd"}},
	{"internal/app/clipboard", []string{"internal/child", "internal/lookpath", "internal/timelimit"}},
	{"internal/app/frontmatter", []string{"internal/lazyregexp"}},
	{"internal/app/hooks", []string{"internal/app/home", "internal/config", "internal/footprint", "internal/permission", "internal/regularfile", "internal/tools", "internal/tools/shell"}},
	{"internal/app/skills", []string{"internal/app/frontmatter", "internal/app/home", "internal/lazyregexp", "internal/regularfile"}},
	{"internal/app/sources", []string{"internal/app/hooks", "internal/app/skills", "internal/app/subagents", "internal/config", "internal/lazyregexp", "internal/mcp", "internal/permission", "internal/context"}},
	{"internal/app/spending", []string{"internal/statefile"}},
	{"internal/app/subagents", []string{"internal/app/frontmatter", "internal/app/home", "internal/lazyregexp", "internal/llm", "internal/plural", "internal/regularfile", "internal/sanitize", "internal/session", "internal/tools"}},
	{"internal/app/recording", []string{"internal/app", "internal/app/keystore", "internal/app/setup", "internal/audit", "internal/config", "internal/confirm", "internal/lazyregexp", "internal/llm", "internal/permission", "internal/session", "internal/session/archive", "internal/session/history", "internal/statefile", "internal/tools/shell"}},
	{"internal/app/fileindex", []string{"internal/fuzzy", "internal/tools/search", "internal/workspace"}},
	{"internal/app/home", []string{"internal/lookpath", "internal/regularfile", "internal/statefile"}},
	{"internal/app/idelink", []string{"internal/config", "internal/confirm", "internal/editor", "internal/ide", "internal/ide/client", "internal/ide/lock", "internal/lazyregexp", "internal/peer", "internal/sanitize", "internal/session", "internal/tools", "internal/tools/shell", "internal/workspace"}},
	{"internal/app/keystore", []string{"internal/statefile", "internal/timelimit"}},
	{"internal/app/attachments", []string{"internal/app/fileindex", "internal/imagefile", "internal/lazyregexp", "internal/llm", "internal/mcp", "internal/regularfile", "internal/sanitize", "internal/session", "internal/tools", "internal/tools/shell"}},
	{"internal/app/provider", []string{
		"internal/child", "internal/app/keystore", "internal/app/allowedservers", "internal/chatgpt", "internal/config", "internal/llm", "internal/llm/anthropic", "internal/llm/openai", "internal/llm/openai/local", "internal/llm/remote", "internal/llm/responses", "internal/llm/script", "internal/llm/written", "internal/lookpath", "internal/statefile", "internal/timelimit",
	}},
	{"internal/app/allowedservers", []string{
		"internal/app/keystore", "internal/config", "internal/llm", "internal/llm/remote", "internal/peer", "internal/statefile",
	}},
	{"internal/app/replay", []string{"internal/trial", "internal/app/setup", "internal/config", "internal/confirm", "internal/llm", "internal/permission", "internal/session/archive", "internal/tools", "internal/tools/access", "internal/tools/change", "internal/tools/shell", "internal/tools/shell/safecmd", "internal/workspace"}},
	{"internal/app/trust", []string{"internal/regularfile", "internal/statefile"}},
	{"internal/app/usercommands", []string{"internal/app/command", "internal/app/frontmatter", "internal/app/skills", "internal/lazyregexp", "internal/regularfile", "internal/sanitize"}},

	{"internal/app/commands", []string{"internal/app", "internal/app/command", "internal/app/settings", "internal/app/subagents", "internal/app/trust", "internal/caution", "internal/config", "internal/confirm", "internal/diff", "internal/editor", "internal/llm", "internal/mcp", "internal/nearest", "internal/permission", "internal/repl/diffview", "internal/repl/pager", "internal/repl/theme", "internal/session/archive", "internal/session/history", "internal/tools", "internal/tools/shell", "internal/workspace", "internal/workspace/effects", "internal/workspace/undo"}},
	{"internal/cli/doctor", []string{"internal/app/languages", "internal/child", "internal/lazyregexp", "internal/langserver", "internal/trial", "internal/app/allowedservers", "internal/app/home", "internal/app/hooks", "internal/app/idelink", "internal/app/keystore", "internal/app/provider", "internal/app/skills", "internal/app/sources", "internal/app/trust", "internal/cli/extension", "internal/config", "internal/ide/client", "internal/ide/lock", "internal/llm", "internal/llm/remote", "internal/lookpath", "internal/repl/keys", "internal/repl/theme", "internal/sandbox", "internal/sanitize", "internal/statefile", "internal/timelimit", "internal/tools/shell"}},
	{"internal/cli/pluginargs", []string{"internal/lazyregexp", "internal/permission"}},
	{"internal/cli/extension", []string{"internal/child", "internal/lookpath", "internal/statefile", "internal/timelimit"}},
	{"internal/cli/firstrun", []string{"internal/app/allowedservers", "internal/app/keystore", "internal/app/provider", "internal/chatgpt", "internal/timelimit", "internal/app/settings", "internal/app/setup", "internal/app/trust", "internal/config", "internal/lazyregexp", "internal/llm", "internal/llm/anthropic", "internal/llm/openai/local", "internal/llm/remote", "internal/repl/dialog", "internal/repl/picker", "internal/sanitize"}},
	{"internal/app/settings", []string{
		"internal/config/catalog",
		"internal/config", "internal/llm/remote", "internal/sanitize", "internal/statefile",
	}},
	{"internal/cli", []string{"docs", "editors/vscode", "internal/*"}},
	{"cmd/agent", []string{"internal/cli", "internal/early"}},

	// Programs of the build, and support for tests: no package above imports them.
	{"tools/bench", nil},
	{"tools/bench/floor", nil},
	{"tools/picture", []string{"internal/dev/ptytest/vt", "tools/picture/cast"}},
	{"tools/picture/cast", nil},
	{"tools/gotest", nil},
	{"tools/securityreport", []string{"tools/gotest"}},
	{"tools/modeltable", nil},
	{"tools/release", []string{"internal/cli"}},
	{"tools/testreport", []string{"tools/gotest"}},
	{"internal/chatgpt/chatgpttest", nil},
	{"internal/dev/bypass", nil},
	{"internal/dev/fixedport", nil},
	{"internal/dev/golden", nil},
	{"internal/dev/house", nil},
	{"internal/dev/mcptest", nil},
	{"internal/dev/mishap", nil},
	{"internal/dev/ptytest", []string{"internal/dev/ptytest/vt"}},
	{"internal/dev/ptytest/vt", nil},
	{"internal/dev/ringtest", nil},
	{"internal/dev/xterm", nil},
	{"internal/dev/scratch", []string{"internal/workspace"}},
	{"internal/dev/stress", nil},
	{"internal/dev/transcriptjudge", nil},
	{"internal/ide/idetest", []string{"internal/dev/fixedport", "internal/ide/proof", "internal/peer/peertest"}},
	{"internal/llm/llmtest", []string{"internal/llm"}},
	{"internal/peer/peertest", nil},
}

// everybody lists packages that every package may import.
var everybody = []string{"internal/clip", "internal/crash", "internal/hexsum", "internal/plural", "internal/subpath"}

// supports reports whether pkg supports tests or the build. The product may not import
// it.
func supports(pkg string) bool {
	switch pkg {
	case "internal/ide/idetest", "internal/llm/llmtest", "internal/peer/peertest", "internal/repl/keys/keystest":
		return true
	}
	return below(pkg, "internal/dev") || below(pkg, "tools")
}

// homes lists the packages that may import a library, including everything below them.
var homes = []struct {
	lib string
	in  []string
}{
	{"charm.land/bubbletea/v2", []string{"internal/repl"}},
	{"charm.land/glamour/v2", []string{"internal/repl"}},
	{"charm.land/lipgloss/v2", []string{"internal/repl"}},
	{"github.com/clipperhouse", []string{"internal/cells"}},
	{"github.com/mattn/go-runewidth", []string{"internal/cells"}},
	{"github.com/rivo/uniseg", []string{"internal/cells"}},
	{"github.com/coder/websocket", []string{"internal/ide"}},
	{"github.com/creack/pty", []string{"tools/bench", "internal/dev/ptytest"}},
	{"github.com/JohannesKaufmann/html-to-markdown/v2", []string{"internal/tools/web"}},
	{"github.com/modelcontextprotocol/go-sdk", []string{"internal/ide", "internal/mcp", "internal/dev/mcptest", "tools/bench"}},
	{"github.com/sashabaranov/go-openai", []string{"internal/llm/openai"}},
	{"github.com/spf13/cobra", []string{"internal/cli", "tools/release"}},
	{"github.com/spf13/viper", []string{"internal/config"}},
	{"github.com/zalando/go-keyring", []string{"internal/app/keystore"}},
	{"mvdan.cc/sh/v3", []string{"internal/footprint", "internal/shellline", "internal/tools/shell"}},
}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, imp := range f.ast.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := forbidden(f.pkg, path); why != "" {
				t.Errorf("%s imports %s: %s", f.path, path, why)
			}
		}
	}
}

// forbidden returns why pkg may not import path, or "".
func forbidden(pkg, path string) string {
	for _, h := range homes {
		if below(path, h.lib) && !slices.ContainsFunc(h.in, func(home string) bool { return below(pkg, home) }) {
			return "only " + strings.Join(h.in, ", ") + " may"
		}
	}
	target, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		return ""
	}
	if supports(target) && !supports(pkg) {
		return "only tests may"
	}
	for _, may := range allowed(pkg) {
		if dir, all := strings.CutSuffix(may, "/*"); target == may || all && below(target, dir) {
			return ""
		}
	}
	return "it is not in the import table (layers_test.go)"
}

func allowed(pkg string) []string {
	for _, l := range layers {
		if l.pkg == pkg && slices.Contains(l.may, "internal/*") {
			return l.may
		}
		if l.pkg == pkg {
			return slices.Concat(l.may, everybody)
		}
	}
	return nil
}

// TestAllowedImportsAreUsed keeps the table short: it allows only imports in use.
func TestAllowedImportsAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, imp := range f.ast.Imports {
			target := strings.TrimPrefix(strings.Trim(imp.Path.Value, `"`), module+"/")
			used[f.pkg+" "+target] = true
			for dir := path.Dir(target); dir != "."; dir = path.Dir(dir) {
				used[f.pkg+" "+dir+"/*"] = true
			}
		}
	}
	for _, l := range layers {
		for _, may := range l.may {
			if !used[l.pkg+" "+may] {
				t.Errorf("%s does not import %s: take it out of its row", l.pkg, may)
			}
		}
	}
}

func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func TestForbiddenSeesViolations(t *testing.T) {
	for _, c := range []struct {
		pkg, path string
		refused   bool
	}{
		{"internal/repl", module + "/internal/ide", true},
		{"internal/session", module + "/internal/config", true},
		{"internal/session", module + "/internal/repl", true},
		{"internal/confirm", module + "/internal/diff", false},
		{"internal/repl", module + "/internal/repl/screen", false},
		{"internal/cli", module + "/internal/repl/screen", false},
		{"internal/cli", module + "/internal/dev/ptytest", true},
		{"internal/session", "charm.land/lipgloss/v2", true},
		{"internal/repl/markdown", "charm.land/glamour/v2/styles", false},
		{"internal/tools", "github.com/spf13/viper", true},
		{"internal/tools", "os", false},
	} {
		if got := forbidden(c.pkg, c.path); (got != "") != c.refused {
			t.Errorf("%s imports %s: %q", c.pkg, c.path, got)
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	inTable := map[string]bool{}
	for _, l := range layers {
		inTable[l.pkg] = true
	}
	for _, f := range sources(t) {
		if !inTable[f.pkg] {
			t.Errorf("%s is not in the import table (layers_test.go)", f.pkg)
			inTable[f.pkg] = true
		}
	}
}

func TestPackageComments(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		comments[f.pkg] = append(comments[f.pkg], "")
		if f.ast.Doc != nil {
			comments[f.pkg] = append(comments[f.pkg], f.ast.Doc.Text())
		}
	}
	for pkg, all := range comments {
		all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
		if len(all) != 1 {
			t.Errorf("%s has %d package comments, want one", pkg, len(all))
			continue
		}
		if !strings.HasPrefix(all[0], "Package ") && !strings.HasPrefix(all[0], "Command ") {
			t.Errorf("%s: the package comment begins with %.30q", pkg, all[0])
		}
	}
}

// TestArchitecturePage checks that the files that docs/architecture.md names exist.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile("`((?:cmd|internal)/[\\w/.]+)`").FindAllSubmatch(page, -1) {
		if _, err := os.Stat(string(name[1])); err != nil {
			t.Errorf("docs/architecture.md: %v", err)
		}
	}
}

// TestArchitectureTable looks for the functions of "From the key to the disk" in the file
// of their row.
func TestArchitectureTable(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| \\d+ \\| `([\\w/.]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 20 {
		t.Errorf("%d rows found", len(rows))
	}
	declared := map[string]bool{} // functions as FILE NAME and FILE TYPE.NAME
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				declared[f.path+" "+receiver(fn)+fn.Name.Name] = true
			}
		}
	}
	for _, row := range rows {
		names := regexp.MustCompile("`([\\w.]+)`").FindAllStringSubmatch(row[2], -1)
		if len(names) == 0 {
			t.Errorf("the row of %s names no function", row[1])
		}
		for _, name := range names {
			if fn := strings.TrimPrefix(name[1], filepath.Base(filepath.Dir(row[1]))+"."); !declared[row[1]+" "+fn] {
				t.Errorf("docs/architecture.md: %s has no function %s", row[1], fn)
			}
		}
	}
}

// receiver returns the type of a method and a dot, or "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	x := fn.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if generic, ok := x.(*ast.IndexExpr); ok {
		x = generic.X
	}
	if id, ok := x.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

// Each decision has a number of its own, which its title has too.
func TestDecisionsAreNumbered(t *testing.T) {
	files, err := filepath.Glob("docs/adr/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	last := ""
	for _, file := range files {
		number := filepath.Base(file)[:4]
		if number == last {
			t.Errorf("%s: another decision has its number", file)
		}
		last = number
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if title := "# " + strings.TrimLeft(number, "0") + ". "; !strings.HasPrefix(string(data), title) {
			t.Errorf("%s: the title does not begin with %q", file, title)
		}
	}
}
