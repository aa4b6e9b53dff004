package permission

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The names in the list of files with keys are compared with folded ones.
func TestTheListOfSecretsIsFolded(t *testing.T) {
	for _, g := range []group{secrets().Anywhere, secrets().Home} {
		for _, name := range slices.Concat(g.Folders, g.Files, g.Prefixes, g.Suffixes, g.Paths, secrets().JSON) {
			if name == "" || name != fold(name) {
				t.Errorf("%q", name)
			}
		}
	}
	if h := secrets().Home; len(h.Prefixes)+len(h.Suffixes)+len(h.Paths) > 0 {
		t.Error("only folders and files of a home are compared")
	}
}

// The same file is recognized by the paths of every system, whichever runs the test.
func TestPathsOfEachSystem(t *testing.T) {
	for _, c := range []struct{ abs, home, keys string }{
		{`C:\Users\me\src\main.go`, `C:\Users\me\.agent`, ""},
		{`C:\Users\me\src\main.go`, `C:\Users\me\src\..\agent`, ""},
		{`c:\users\ME\.AGENT\Credentials.json`, `C:\Users\me\.agent`, "never"},
		{`C:\Users\me\.agent\credentials.json::$DATA`, `C:\Users\me\.agent`, "never"},
		{`\\?\C:\Users\me\.agent\credentials.json`, `C:\Users\me\.agent`, "never"},
		{`C:/Users/me/.agent/credentials.json`, `C:\Users\me\.agent`, "never"},
		{`D:\Users\me\.agent\credentials.json`, `C:\Users\me\.agent`, "asked"},
		{`C:\Users\me\.agent\sessions\x.jsonl`, `C:\Users\me\.agent`, "asked"},
		{`C:\Users\me\.docker\daemon.json`, `C:\Users\me\.agent`, "asked"},
		{`C:\Users\me\AppData\Roaming\gcloud\credentials.db`, `C:\Users\me\.agent`, "asked"},
		{`C:\src\p\.docker\Dockerfile`, `C:\Users\me\.agent`, ""},
		{`C:\src\p\prod.env`, `C:\Users\me\.agent`, "asked"},
		{`C:\src\p\.env.`, `C:\Users\me\.agent`, "asked"},
		{`C:\src\p\.env:stream`, `C:\Users\me\.agent`, "asked"},
		{`C:\src\p\.ssh\config`, `C:\Users\me\.agent`, "asked"},
		{"/home/me/src/main.go", "/home/me/.agent", ""},
		{"/home/me/.agent/credentials.json", "/home/me/.agent", "never"},
		{"/home/me/.agent/history", "/home/me/.agent", "asked"},
		{"/home/me/.docker/daemon.json", "/home/me/.agent", "asked"},
		{"/root/.kube/cache", "/home/me/.agent", "asked"},
		{"/Users/me/.azure/x", "/Users/me/.agent", "asked"},
		{"/srv/p/.azure/pipeline.yml", "/home/me/.agent", ""},
		{"/home/me/src/p/.kube/deploy.yaml", "/home/me/.agent", ""},
		{"/srv/keys/secrets.json", "/srv/keys", "asked"},
	} {
		got := ""
		switch {
		case NeverRead(c.abs, c.home) != "":
			got = "never"
		case Keys(c.abs, c.abs, c.home) != "":
			got = "asked"
		}
		if got != c.keys {
			t.Errorf("%s with %s: %q, want %q", c.abs, c.home, got, c.keys)
		}
	}
	for _, name := range []string{`C:\p\.git\config`, `.git\hooks\pre-commit`, "C:/p/.vscode/tasks.json", `p\GIT~1\config`} {
		if Protected(name, "", "") == "" {
			t.Errorf("%s is not protected", name)
		}
	}
	for _, name := range []string{`C:\p\main.go`, "C:/p/main.go", "c:", `C:\`} {
		if why := Protected(name, "", ""); why != "" {
			t.Errorf("%s is protected: %s", name, why)
		}
	}
}

func BenchmarkKeys(b *testing.B) {
	for b.Loop() {
		Keys("internal/app/provider/provider.go", "/home/me/src/project/internal/app/provider/provider.go", "/home/me/.agent")
	}
}

// The shortcut of fold is right.
func FuzzFold(f *testing.F) {
	for _, name := range []string{"a/b.go", "a./b", "a /b", "GIT~1", "git~1/x", "..", "./a", "a:b", `a\b`, "é", "a\u200bb", "."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if isFolded(name) && fold(name+"\u200b") != name {
			t.Errorf("%q is folded to %q", name, fold(name+"\u200b"))
		}
	})
}

// A file for keys that everybody may know is read without a question, unless a private key is in it.
func TestPublicKeysAreNoSecrets(t *testing.T) {
	for _, name := range []string{"rsapub.pem", "ryans-csr.pem", "ca.pem", "root-ca.pem", "ca2cert.pem", "certs/fullchain.pem", "Public-Key.pem", "server_pubkey.pem", "ca-bundle.pem", "crl.pem", "cert-2.pem"} {
		if Secret(name) {
			t.Errorf("%s may contain passwords or keys", name)
		}
		abs := filepath.Join(t.TempDir(), filepath.Base(name))
		for content, want := range map[string]string{
			"-----BEGIN CERTIFICATE-----\n":                                  "",
			"-----BEGIN CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\n": "holds a private key",
		} {
			if err := os.WriteFile(abs, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Keys(name, abs, ""); got != want {
				t.Errorf("%s with %q: %q, want %q", name, content, got, want)
			}
		}
	}
	for _, name := range []string{"server.pem", "rsakey.pem", "key.pem", "public-private-key.pem", "cert-key.pem", "keychain.pem", "privcert.pem", "africa.pem", "x.pem", "rsapub.key"} {
		if !Secret(name) {
			t.Errorf("%s usually holds no keys", name)
		}
	}
}
