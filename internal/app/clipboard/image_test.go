package clipboard

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// png begins like an image.
const png = "\x89PNG\r\n\x1a\nand so on"

// printing returns a script that prints text.
func printing(text string) string {
	return fmt.Sprintf("printf '%%s' '%s'", text)
}

func TestImage(t *testing.T) {
	octal := ""
	for _, b := range []byte(png) {
		octal += fmt.Sprintf(`\%03o`, b)
	}
	whole := "printf '" + octal + "'"
	mac := printing("«data PNGf" + strings.ToUpper(hex.EncodeToString([]byte(png))) + "»")
	for name, c := range map[string]struct {
		system, env string
		scripts     map[string]string
		want        error
	}{
		"wayland":         {"linux", "WAYLAND_DISPLAY=wayland-0", map[string]string{"wl-paste": whole, "xclip": "exit 1"}, nil},
		"x":               {"freebsd", "DISPLAY=:0", map[string]string{"xclip": whole}, nil},
		"the second one":  {"darwin", "", map[string]string{"pngpaste": "exit 1", "osascript": mac}, nil},
		"windows":         {"windows", "", map[string]string{"powershell.exe": printing(base64.StdEncoding.EncodeToString([]byte(png)) + "\r\n")}, nil},
		"text only":       {"linux", "DISPLAY=:0", map[string]string{"xclip": "echo no such target >&2; exit 1"}, errNoImage},
		"nothing":         {"windows", "", map[string]string{"powershell.exe": ":"}, errNoImage},
		"broken digits":   {"darwin", "", map[string]string{"osascript": printing("«data PNGf12Z»")}, errNoImage},
		"no program":      {"linux", "DISPLAY=:0", nil, errNoTool},
		"no desktop":      {"linux", "", map[string]string{"xclip": whole}, errNoTool},
		"more than asked": {"linux", "DISPLAY=:0", map[string]string{"xclip": "cat /dev/zero"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := desktop(t, c.scripts)
			t.Setenv("PATH", dir)
			for _, tool := range []string{"cat", "printf"} { // without the desktop's own programs
				if err := os.Symlink("/bin/"+tool, dir+"/"+tool); err != nil && tool == "cat" {
					t.Fatal(err)
				}
			}
			data, err := Programs{Env: []string{"PATH=" + os.Getenv("PATH"), c.env}}.image(t.Context(), c.system, 1000)
			switch {
			case !errors.Is(err, c.want):
				t.Errorf("error %v", err)
			case name == "more than asked":
				if len(data) <= 1000 || len(data) > 3000 {
					t.Errorf("%d bytes", len(data))
				}
			case err == nil && string(data) != png:
				t.Errorf("%q", data)
			}
		})
	}
}
