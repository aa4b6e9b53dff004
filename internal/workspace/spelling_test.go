package workspace

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// Each spelling of a path of Windows is one path, or none, on every system.
func TestSpellingsOfWindows(t *testing.T) {
	const dir = `C:\p`
	for path, want := range map[string]string{
		`a.txt`:                          `C:\p\a.txt`,
		`sub/a.txt`:                      `C:\p\sub\a.txt`,
		`.`:                              `C:\p\.`,
		`..\x`:                           `C:\p\..\x`,
		`c:/p/a.txt`:                     `C:\p\a.txt`,
		`c:\P\A.TXT`:                     `C:\P\A.TXT`,
		`/x`:                             `C:\x`,
		`\x\y`:                           `C:\x\y`,
		`D:\x`:                           `D:\x`,
		`\\wsl$\Debian\p\a`:              `\\wsl$\Debian\p\a`,
		`console.txt`:                    `C:\p\console.txt`,
		`com10`:                          `C:\p\com10`,
		`.env`:                           `C:\p\.env`,
		`C:new.txt`:                      "current folder of drive C:",
		`c:`:                             "current folder of drive c:",
		`C:..\x`:                         "current folder",
		`sub\C:new.txt`:                  "stream",
		`a.txt:s`:                        "stream",
		`C:\p\a.txt::$DATA`:              "stream",
		`.git::$INDEX_ALLOCATION/config`: "stream",
		`.env.`:                          "cuts off",
		`.git ./config`:                  "cuts off",
		`a /b`:                           "cuts off",
		`...`:                            "cuts off",
		`NUL`:                            "device",
		`x\con.txt`:                      "device",
		`lpt1 .log`:                      "device",
		`COM²`:                           "device",
		`a*.txt`:                         "character",
		"a\tb":                           "character",
		`\\?\C:\p\a?`:                    "character",
	} {
		got, err := windowsPath(path, dir)
		if err != nil {
			if got = err.Error(); !strings.Contains(got, want) || strings.Contains(want, `\`) {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		} else if got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if got, err := windowsPath(`\x`, `\\host\share\p`); got != `\\host\share\x` || err != nil {
		t.Error(got, err)
	}
	if got, err := windowsPath("x", `C:\`); got != `C:\x` || err != nil {
		t.Error(got, err)
	}
}

// Whatever the spelling, on a disk that ignores case and the form of accents a file has one name.
func TestNameOnDisk(t *testing.T) {
	disk := []string{".env", ".Env.local", "Straße", norm.NFD.String("Ärger.txt"), "ärger.md", norm.NFC.String("é"), "ΌΣΟΣ", "README.md", "Ⓐ", "İ", "ﬁle"}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SampledFrom(disk).Draw(t, "name")
		forms := []norm.Form{norm.NFC, norm.NFD}
		part := rapid.SampledFrom(forms).Draw(t, "before").String(want)
		part = strings.Map(func(r rune) rune {
			for range rapid.IntRange(0, 3).Draw(t, "case") {
				r = unicode.SimpleFold(r)
			}
			return r
		}, part)
		part = rapid.SampledFrom(forms).Draw(t, "after").String(part)
		asked := 0
		got, ok := nameOnDisk(disk, part, func(name string) bool { asked++; return name == want })
		if got != want || !ok {
			t.Errorf("%+q is called %+q, not %+q", part, got, want)
		}
		if part == want && asked > 0 {
			t.Errorf("%q was looked for, with its name in the folder", part)
		}
	})
}

// A file with two names in a folder has the one that is asked for, else the one that reads like it.
func TestTwoNamesOnDisk(t *testing.T) {
	both := func(name string) bool { return name == "b" || name == "Apfel" }
	for part, want := range map[string]string{"b": "b", "B": "b", "apfel": "Apfel", "Apfel": "Apfel"} {
		if got, ok := nameOnDisk([]string{"x", "b", "Apfel"}, part, both); got != want || !ok {
			t.Errorf("%s is called %s", part, got)
		}
	}
	if got, ok := nameOnDisk([]string{"x"}, "y", both); ok {
		t.Errorf("a name that is gone is called %q", got)
	}
}
