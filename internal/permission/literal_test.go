package permission_test

import (
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// TestLiteralKeys: settings of other programs hold keys if they have one, and not only the name of a
// variable.
func TestLiteralKeys(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{".mcp.json", `{"mcpServers":{"a":{"command":"npx","args":["-y","server"]}}}`, false},
		{".mcp.json", `{"mcpServers":{"a":{"url":"https://h/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}`, false},
		{".mcp.json", `{"mcpServers":{"a":{"env":{"API_KEY":"${API_KEY:-}","TOKEN":"$TOKEN","X_TOKEN":"%X_TOKEN%"}}}}`, false},
		{".mcp.json", `{"mcpServers":{"a":{"env":{"GITHUB_TOKEN":"<your token>","OTHER_KEY":"your-key-here","MAX_TOKENS":"8000"}}}}`, false},
		{".mcp.json", `{"mcpServers":{"a":{"headers":{"Authorization":"Bearer ${input:token}"}}}}`, false},
		{".mcp.json", `{"mcpServers":{"a":{"args":["--token","${TOKEN}"]}}}`, false},
		{".mcp.json", `{"mcpServers":{"a":{"headers":{"Authorization":"Bearer abc123"}}}}`, true},
		{".mcp.json", `{"mcpServers":{"a":{"headers":{"X-Api-Key": "abc123"}}}}`, true},
		{".mcp.json", `{"mcpServers":{"a":{"env":{"GITHUB_PERSONAL_ACCESS_TOKEN":"ghp_x"}}}}`, true},
		{".mcp.json", `{"mcpServers":{"a":{"env":{"API_KEY":"${API_KEY:-sk-123}"}}}}`, true},
		{".mcp.json", `{"mcpServers":{"a":{"args":["--api-key", "abc123"]}}}`, true},
		{".mcp.json", `{"mcpServers":{"a":{"args":["--token=abc123"]}}}`, true},
		{".mcp.json", `{"mcpServers":{"a":{"url":"https://h/mcp?api_key=abc123"}}}`, true},
		{".mcp.json", `{"mcpServers":{"a":{"env":{"DATABASE_URL":"postgres://u:pw@h/d"}}}}`, true},
		{".mcp.json", `{"mcpServers":{"a":{"env":{"DATABASE_URL":"postgres://u:${PW}@h/d"}}}}`, false},
		{".MCP.json", `{"env":{"A_SECRET":"abc"}}`, true},
		{".vscode/mcp.json", `{"servers":{"a":{"env":{"A_TOKEN":"abc"}}}}`, true},
		{".yarnrc.yml", "npmAuthToken: abc123\n", true},
		{".yarnrc.yml", "npmScopes:\n  a:\n    npmAuthToken: 'abc123'\n", true},
		{".yarnrc.yml", "npmAuthIdent: \"me:pw\"\n", true},
		{".yarnrc.yml", "npmAuthToken: \"${NPM_TOKEN}\"\n", false},
		{".yarnrc.yml", "npmAuthToken: ${NPM_TOKEN}\n", false},
		{".yarnrc.yml", "npmAuthToken: \"${NPM_TOKEN-}\"\n", false},
		{".yarnrc.yml", "npmAuthToken: \"${NPM_TOKEN-abc123}\"\n", true},
		{".yarnrc.yml", "nodeLinker: node-modules\nnpmAlwaysAuth: true\n", false},
		{".yarnrc", "\"//registry.npmjs.org/:_authToken\" \"abc123\"\n", true},
		{".npmrc", "//registry.npmjs.org/:_authToken=abc123\n", true},
		{"bunfig.toml", "token = \"$NPM_TOKEN\"\n", false},
		{"bunfig.toml", "token = \"abc123\"\n", true},
		{"pip.conf", "[global]\nindex-url = https://me:pw@h/simple\n", true},
		{"pip.conf", "[global]\nindex-url = https://${ME}:${PW}@h/simple\n", false},
		{"gradle.properties", "org.gradle.jvmargs=-Xmx2g\n", false},
		{"gradle.properties", "signingPassword=abc\n", true},
		{"NuGet.Config", `<add key="ClearTextPassword" value="abc" />`, true},
		{"NuGet.Config", `<add key="ClearTextPassword" value="%PW%" />`, false},
		{"settings.xml", "<password>abc</password>", true},
		{"settings.xml", "<password>${env.PW}</password>", false},
		{".cargo/config.toml", "[build]\njobs = 2\n", false},
		{".cargo/config.toml", "[registries.a]\ntoken = \"abc\"\n", true},
		{"package.json", `{"token":"abc123"}`, false},
	} {
		dir := scratch.Dir(t, map[string]string{c.name: c.text})
		abs := filepath.Join(dir, c.name)
		if got := permission.Keys(c.name, abs, ""); (got != "") != c.want {
			t.Errorf("%s with %s: %q, want %v", c.name, c.text, got, c.want)
		}
	}
}

// TestMayBeSecret: patterns are judged by the same list as names.
func TestMayBeSecret(t *testing.T) {
	for pattern, want := range map[string]bool{
		".env*": true, ".e*": true, "*.pem": true, "*.key": true, "id_*": true, ".n*": true, "cred*": true, "secret*.json": true, "*.tfstate": true,
		".git-cred*": true, ".s*": true, "server.*": true, "*.p12": true, "prod.env*": false, ".htpass*": true, "kubeconf*": true,
		"*": false, "*.json": false, "*.yml": false, "*.toml": false, "*.txt": false, "*.go": false, "*.db": false, "s*.json": false, "c*": false,
		"lo*": false, ".*": false, "?.md": false, "*.env.example": false, ".env.*.example": false, "main*": false, "[ab]*.go": false,
	} {
		if got := permission.MayBeSecret(pattern); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}
