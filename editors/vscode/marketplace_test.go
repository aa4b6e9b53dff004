package vscode

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// categories are those that the marketplaces know and that fit.
var categories = []string{"AI", "Chat", "Other"}

var (
	picture   = regexp.MustCompile(`!\[[^\]]*\]\(([^)]+)\)`)
	link      = regexp.MustCompile(`[^!]\[[^\]]+\]\(([^)]+)\)`)
	numbers   = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	ofService = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
)

// TestMarketplaces: the marketplaces of VS Code and Open VSX accept the package, and its page
// there has its licence, its icon, its pictures and no dead link into the repository.
func TestMarketplaces(t *testing.T) {
	var m struct {
		Name, Publisher, Version, License, Icon, Main, Homepage, Pricing string
		Categories, Keywords, ActivationEvents, EnabledAPIProposals      []string
		Private, Preview                                                 bool
		Engines                                                          struct{ VSCode string }
		Repository                                                       struct{ Type, URL, Directory string }
		Bugs                                                             struct{ URL string }
		Scripts                                                          map[string]string
	}
	decode(t, "dist/extension/package.json", &m)
	repository := strings.TrimSuffix(m.Repository.URL, ".git")
	for what, ok := range map[string]bool{
		"the name is one of marketplaces":                 ofService.MatchString(m.Name),
		"there is a publisher":                            ofService.MatchString(m.Publisher),
		"the version is three numbers":                    numbers.MatchString(m.Version),
		"it is not private and no preview":                !m.Private && !m.Preview,
		"the licence is named":                            m.License == "MIT",
		"one to three categories":                         len(m.Categories) > 0 && len(m.Categories) <= 3,
		"at most 30 keywords":                             len(m.Keywords) > 0 && len(m.Keywords) <= 30,
		"it does not start for everything":                len(m.ActivationEvents) > 0 && !slices.Contains(m.ActivationEvents, "*"),
		"it needs no proposed API, which is refused":      len(m.EnabledAPIProposals) == 0,
		"the oldest editor is named":                      strings.HasPrefix(m.Engines.VSCode, "^1."),
		"the repository, with the extension's folder":     m.Repository.Type == "git" && strings.HasPrefix(repository, "https://") && m.Repository.Directory == "editors/vscode",
		"the addresses are the repository's":              strings.HasPrefix(m.Homepage, repository+"#") && m.Bugs.URL == repository+"/issues",
		"nothing runs at the installation or its removal": m.Scripts["vscode:uninstall"] == "" && m.Scripts["postinstall"] == "",
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
	for _, c := range m.Categories {
		if !slices.Contains(categories, c) {
			t.Errorf("the category is %s", c)
		}
	}
	for _, file := range []string{m.Icon, m.Main, "readme.md", "changelog.md", "LICENSE.txt", "out/NOTICES.txt"} {
		if !strings.HasSuffix(file, ".js") && filepath.Ext(file) == "" {
			file += ".js" // the main script is named without it
		}
		if len(read(t, filepath.Join("dist/extension", file))) == 0 {
			t.Errorf("%s is empty", file)
		}
	}
	icon, err := png.DecodeConfig(bytes.NewReader(read(t, filepath.Join("dist/extension", m.Icon))))
	if err != nil || icon.Width != icon.Height || icon.Width < 128 {
		t.Errorf("the icon: %v, %d×%d", err, icon.Width, icon.Height)
	}
	page(t, repository)

	notes := string(read(t, "dist/extension/changelog.md"))
	if !strings.Contains(notes, "\n## "+m.Version+"\n") {
		t.Errorf("the changes do not have version %s", m.Version)
	}
}

// page checks the addresses on the page of the extension.
func page(t *testing.T, repository string) {
	t.Helper()
	text := string(read(t, "dist/extension/readme.md"))
	pictures := picture.FindAllStringSubmatch(text, -1)
	if len(pictures) < 3 {
		t.Errorf("the page has %d pictures", len(pictures))
	}
	for _, p := range pictures {
		file, ok := strings.CutPrefix(p[1], repository+"/raw/HEAD/editors/vscode/")
		if !ok {
			t.Errorf("the picture %s is not in the repository", p[1])
			continue
		}
		if _, err := png.Decode(bytes.NewReader(read(t, file))); err != nil { // others are refused, or not shown
			t.Errorf("the picture %s: %v", file, err)
		}
	}
	for _, l := range link.FindAllStringSubmatch(text, -1) {
		address, _, _ := strings.Cut(l[1], "#")
		file, ours := strings.CutPrefix(address, repository+"/blob/HEAD/")
		if !ours {
			file, ours = strings.CutPrefix(address, repository+"/blob/main/")
		}
		switch {
		case ours:
			read(t, filepath.Join("../..", file))
		case address != "" && !strings.HasPrefix(address, "https://"):
			t.Errorf("the link %s leads nowhere on the page of a marketplace", l[1])
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Error(err)
	}
	return data
}

func decode(t *testing.T, file string, to any) {
	t.Helper()
	if err := json.Unmarshal(read(t, file), to); err != nil {
		t.Fatal(err)
	}
}
