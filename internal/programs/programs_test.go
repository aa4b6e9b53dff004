package programs

import (
	"strings"
	"testing"
)

// TestOneRow: the table has one row for each name.
func TestOneRow(t *testing.T) {
	seen := map[string]bool{}
	for _, part := range [][]row{shellRows, wrapperRows, languageRows, builderRows, readingRows, systemRows} {
		for _, r := range part {
			for name := range strings.FieldsSeq(r.names) {
				if seen[name] {
					t.Errorf("%s stands in two rows", name)
				}
				seen[name] = true
				if p := Find(name); !p.Known() {
					t.Errorf("nothing is known of %s", name)
				}
			}
		}
	}
	if len(seen) != len(all()) {
		t.Errorf("%d names, %d found", len(seen), len(all()))
	}
}

func TestFind(t *testing.T) {
	for name, like := range map[string]string{"python3.12": "python", "x86_64-linux-gnu-gcc-12": "cc", "mkfs.ext4": "mkfs", "ld-linux.so.2": "ld.so", "node18": "node"} {
		if Find(name) != Find(like) || !Find(name).Known() {
			t.Errorf("%s is not known as %s", name, like)
		}
	}
	for _, name := range []string{"", "cat2", "/bin/cat", "CAT", "gcc/x"} {
		if Find(name).Known() {
			t.Errorf("%q is known", name)
		}
	}
}

// TestOptionsHideNone: no option of git is judged as taking the next word for its value if
// git would read that as an option.
func TestOptionsHideNone(t *testing.T) {
	tried := 0
	for name, s := range gitSpecs {
		if i := strings.IndexAny(s.flags, s.valued); i >= 0 {
			t.Errorf("git %s: -%c has a value and has none", name, s.flags[i])
		}
		for _, option := range strings.Fields(s.long) {
			for _, hidden := range []string{"--output=made", "--ext-diff", "--textconv", "--move", "--dirty", "-p"} {
				args := append(strings.Fields(name), strings.TrimRight(option, "[=]"), hidden)
				if tried++; hidden == "-p" && strings.Contains(s.flags, "p") && !strings.HasSuffix(option, "=") {
					continue
				}
				if _, why := git(args); why == "" {
					t.Errorf("git %q only reads", args)
				}
			}
		}
	}
	t.Logf("load: %d lines", tried)
}
