package servername

import "testing"

func TestFit(t *testing.T) {
	for name, want := range map[string]string{
		"files":                               "files",
		"my server":                           "my-server",
		"_a__b-":                              "a-b",
		"Größe 2":                             "Gr-e-2",
		"":                                    "",
		"…":                                   "",
		"123456789012345678901234567890 more": "123456789012345678901234567890",
		"12345678901234567890123456789 more":  "12345678901234567890123456789",
	} {
		if got := Fit(name); got != want || got != "" && !Valid(got) {
			t.Errorf("%q becomes %q", name, got)
		}
	}
	for _, wrong := range []string{"", "a__b", "-a", "a b", "1234567890123456789012345678901"} {
		if Valid(wrong) {
			t.Errorf("%q is valid", wrong)
		}
	}
}
