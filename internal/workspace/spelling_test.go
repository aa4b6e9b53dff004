package workspace

import (
	"strings"
	"testing"
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
