package shell

import (
	"slices"
	"strings"
	"testing"
)

// A shell runs all of a line, or refuses it with the reason.
func TestCheckOfALine(t *testing.T) {
	bash := Interpreter{Name: "bash", Posix: true, most: maxVariable}
	for _, c := range []struct {
		in   Interpreter
		line string
		want string // of the error
	}{
		{bash, "echo a\necho b", ""},
		{bash, strings.Repeat("x", maxVariable+1), "takes 32000"},
		{bash, "a\x00b", "NUL"},
		{cmdExe(""), "echo a && echo b", ""},
		{cmdExe(""), "echo a\necho b", "only the first of several lines"},
		{cmdExe(""), "echo a\recho b", "only the first of several lines"},
		{cmdExe(""), "echo a\n", "only the first of several lines"},
		{cmdExe(""), strings.Repeat("x", maxCmdLine+1), "takes 8000"},
	} {
		if err := c.in.Check(c.line); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %.20q: %v, want %q", c.in.Name, c.line, err, c.want)
		}
	}
}

func TestBashOfGit(t *testing.T) {
	vars := map[string]string{"ProgramFiles": `C:\Program Files`, "LOCALAPPDATA": `C:\Users\me\AppData\Local`}
	got := bashOfGit([]string{`D:\Git\`}, func(name string) string { return vars[name] })
	want := []string{`D:\Git\bin\bash.exe`, `C:\Program Files\Git\bin\bash.exe`, `C:\Users\me\AppData\Local\Programs\Git\bin\bash.exe`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
