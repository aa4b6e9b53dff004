package statefile

import (
	"strings"
	"testing"
)

func TestFolderName(t *testing.T) {
	for dir, want := range map[string]string{ // of files that exist
		"/work/shop":    "shop-dbea7844263c",
		"/work/my.shop": "my-shop-c87d787b3be9",
		"/":             "--8a5edab28263",
	} {
		if got := FolderName(dir); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
	long := "/work/" + strings.Repeat("é", 127)
	if a, b := FolderName(long), FolderName(long+"e"); len(a) > 60 || a == b {
		t.Error(a, b)
	}
}
