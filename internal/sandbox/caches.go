package sandbox

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// Caches returns the folders in which Go and npm keep downloads and results, as far as
// these programs are installed: without them, hardly a build works. Other programs read
// and run what is there, so the list is short.
func Caches() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	var programs lookpath.Search
	var dirs []string
	if _, err := programs.Find("go"); err == nil {
		if cache, err := os.UserCacheDir(); err == nil {
			dirs = append(dirs, cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
		}
		first := ""
		if list := filepath.SplitList(os.Getenv("GOPATH")); len(list) > 0 {
			first = list[0]
		}
		dirs = append(dirs, filepath.Join(cmp.Or(first, filepath.Join(home, "go")), "pkg"), os.Getenv("GOMODCACHE"))
	}
	if _, err := programs.Find("npm"); err == nil {
		dirs = append(dirs, cmp.Or(os.Getenv("npm_config_cache"), filepath.Join(home, ".npm")))
	}
	var absolute []string
	for _, dir := range dirs {
		if filepath.IsAbs(dir) {
			absolute = append(absolute, dir)
		}
	}
	return absolute
}
